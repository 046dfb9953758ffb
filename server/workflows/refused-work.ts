// A git server's no is final: the finished work stays a commit on the machine that made it, and the task waits for a person
// with the server's words; `tooManyRefused` keeps further tasks from meeting the same rule.

import { err, type Failure, failure, ok, type Result } from '../core/failure.ts';
import type { DurableRun } from '../durable/port.ts';
import type { CommitLeftoversOutcome, GitFailure } from '../git/port.ts';
import { candidateOf, type Claim, releaseSlot, type Tx } from '../store/port.ts';
import { blockTask, recordFailure } from './attempt-ends.ts';
import { gitFailed, whileAway } from './git-trouble.ts';
import type { Engine } from './parts.ts';
import { stoppedInstead } from './stops.ts';

/**
 * Ends an attempt whose work could not be committed, or not be pushed. `isWhole` tells of a commit that only has to land:
 * once the task is resolved no agent works on it again.
 */
export async function endUncommitted(
  engine: Engine,
  run: DurableRun<Tx>,
  claim: Claim,
  trouble: GitFailure,
  isWhole: (made: CommitLeftoversOutcome) => boolean,
): Promise<void> {
  const { kind, made, message } = trouble;
  await run.commit('commit_failed', async (tx) => {
    if (kind !== 'refused' || made === undefined) {
      return recordFailure(engine, tx, claim, failure('git_failed', message));
    }
    const lands = isWhole(made) && (await candidateOf(tx, claim.taskId)) === null;
    await holdRefused(engine, tx, claim, message, made.commit, lands);
  });
}

/** Finished work that lands again has to be where every machine of a fleet finds it. */
export async function publishAgain(
  engine: Engine,
  run: DurableRun<Tx>,
  claim: Claim,
  commit: string,
  signal: AbortSignal,
): Promise<Result<null>> {
  if (engine.git.sharedRemote === null) return ok(null);
  const published = await run.step('published', () =>
    whileAway(
      engine,
      signal,
      () => engine.git.publish(claim.branch, commit),
      (outcome) => (outcome.ok ? null : gitFailed(outcome.error)),
    ),
  );
  if (published.ok) return ok(null);
  await run.commit('publish_failed', (tx) =>
    holdRefused(engine, tx, claim, published.error.message, commit, true),
  );
  return err(failure('push_refused', published.error.message));
}

async function holdRefused(
  engine: Engine,
  tx: Tx,
  claim: Claim,
  words: string,
  commit: string,
  lands: boolean,
): Promise<void> {
  if (await stoppedInstead(engine, tx, claim)) return;
  const kept = `The finished work is kept: commit ${commit.slice(0, 12)}, branch ${claim.branch} in the clone of ${engine.owner}`;
  const reason: Failure = failure('push_refused', `${engine.mask(words)} ${kept}`);
  const block = lands ? { ...reason, commit } : reason;
  await blockTask(engine, tx, claim, block, { last_error: reason.message, phase: null });
  await releaseSlot(tx, 'task', claim.taskId);
}
