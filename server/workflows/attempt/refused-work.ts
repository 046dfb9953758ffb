// Handles finished work that cannot be committed or made available to every machine. If a git
// server refuses it, the commit stays on the machine that made it, and the task waits for a person
// with the server's message; `tooManyRefused` keeps further tasks from failing on the same rule. If
// no machine has the work, a new attempt starts.

import { failure, type Failure } from '../../core/failure.ts';
import type { DurableRun } from '../../durable/port.ts';
import type { GitFailure } from '../../git/port.ts';
import {
  readCandidateTask,
  type Claim,
  goesOnAfter,
  lastAttempt,
  machineName,
  type Reads,
  releaseSlot,
  setAttempt,
  type Tx,
} from '../../store/port.ts';
import { beginAnew, blockTask, recordFailure } from './attempt-ends.ts';
import { gitFailed, retryWhileUnreachable } from '../kit/git-trouble.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { stoppedInstead } from './stops.ts';
import type { Sha } from '../../git/sha.ts';
import type { CommittedWork } from '../kit/merge-check.ts';

type Refused = Uses<'chance' | 'clock' | 'mask' | 'owner' | 'settings' | 'store'>;

interface UncommittedWork {
  readonly part: string;
  /** The folder with the work. */
  readonly path: string;
  readonly trouble: GitFailure;
}

/**
 * Ends an attempt whose work could not be committed or pushed after the agent of `part` finished.
 * `isWhole`: the commit only has to land, so no agent works on it after the task is resolved.
 */
export async function endUncommitted(
  engine: Refused,
  run: DurableRun<Tx>,
  claim: Claim,
  { part, path, trouble }: UncommittedWork,
  isWhole: (made: CommittedWork) => boolean,
): Promise<void> {
  const { kind, made, message, needsAgent } = trouble;
  await run.commit('commit_failed', async (tx) => {
    if (kind === 'no_worktree' || needsAgent === true) {
      return recordFailure(engine, tx, claim, failure('git_failed', message));
    }
    if (kind !== 'refused' || made === undefined) {
      return endFinished(engine, tx, claim, { part, path, trouble });
    }
    const lands = isWhole(made) && (await readCandidateTask(tx, claim.taskId)) === null;
    await holdRefused(engine, tx, claim, { words: message, commit: made.commit, lands });
  });
}

/**
 * Only the commit is retried: a few times automatically if the problem may pass, otherwise after a
 * person has fixed it. The slot stays leased, because it has the only copy of the work.
 */
async function endFinished(
  engine: Refused,
  tx: Tx,
  claim: Claim,
  { part, path, trouble }: UncommittedWork,
): Promise<void> {
  const reason = failure('commit_failed', trouble.message);
  // Written first, so that a stop request preserves it.
  await setAttempt(tx, claim.taskId, claim.attempt, { failure_kind: reason.kind, pid_part: part });
  const isRetried = trouble.retryable && (await goesOnAfter(tx, claim, reason)) !== null;
  if (isRetried) await recordFailure(engine, tx, claim, reason);
  else await holdFinished(engine, tx, claim, trouble.message, path);
  await setAttempt(tx, claim.taskId, claim.attempt, { pid_part: part });
}

/** Blocks a task whose agent has finished until a person has fixed git. */
export async function holdFinished(
  engine: Uses<'clock' | 'mask' | 'store'>,
  tx: Tx,
  claim: Claim,
  words: string,
  path: string | null,
): Promise<void> {
  if (await stoppedInstead(engine, tx, claim)) return;
  const place = path === null ? '' : ` Its work is in ${path}.`;
  const message = `${engine.mask(words).replace(/\.?$/u, '.')} The agent has finished and is not started again.${place}`;
  const reason = failure('commit_failed', message);
  await blockTask(engine, tx, claim, reason, { last_error: message, phase: null });
}

/**
 * Publishes earlier finished work so that every machine can fetch it. Returns false if that fails,
 * which ends the attempt.
 */
export async function republishWork(
  engine: Refused & Uses<'git' | 'machineId' | 'report'>,
  run: DurableRun<Tx>,
  claim: Claim,
  commit: Sha,
  signal: AbortSignal,
): Promise<boolean> {
  if (engine.git.sharedRemote === null) return true;
  const published = await run.step('published', () =>
    retryWhileUnreachable(
      engine,
      signal,
      () => engine.git.publish(claim.branch, commit),
      (outcome) => (outcome.ok ? null : gitFailed(outcome.error)),
    ),
  );
  if (published.ok) return true;
  await run.commit('publish_failed', (tx) =>
    endUnpublished(engine, tx, claim, commit, published.error),
  );
  return false;
}

async function endUnpublished(
  engine: Refused,
  tx: Tx,
  claim: Claim,
  commit: Sha,
  { kind, message }: GitFailure,
): Promise<void> {
  if (kind === 'refused') {
    const lands = (await readCandidateTask(tx, claim.taskId)) === null;
    return holdRefused(engine, tx, claim, { words: message, commit, lands });
  }
  const { taskId, epoch, runId, attempt, agent } = claim;
  await engine.store.transition(tx, {
    taskId,
    epoch,
    runId,
    from: ['claimed'],
    to: 'in_progress',
    event: 'task.started',
    data: { attempt, agent, committed: commit },
  });
  if (kind !== 'unknown_ref') {
    return recordFailure(engine, tx, claim, failure('git_failed', message));
  }
  if (await stoppedInstead(engine, tx, claim)) return;
  const words = await wordsOfMissing(tx, { taskId, attempt, commit });
  await beginAnew(engine, tx, claim, `${words}. A new attempt begins.`);
}

/** Says where finished work is that neither this clone nor the remote has. */
export async function wordsOfMissing(
  tx: Reads,
  { taskId, attempt, commit }: { taskId: string; attempt: number; commit: Sha },
): Promise<string> {
  const { name, branch } = await machineName(tx, taskId, attempt);
  const where = name === null ? 'in the clone where it was made' : `in the clone of ${name}`;
  return `The finished work of ${taskId} is not on the git remote: commit ${commit.slice(0, 12)}, branch ${branch}, is ${where} alone`;
}

async function holdRefused(
  engine: Uses<'clock' | 'mask' | 'owner' | 'store'>,
  tx: Tx,
  claim: Claim,
  refused: { readonly words: string; readonly commit: string; readonly lands: boolean },
): Promise<void> {
  const { words, commit, lands } = refused;
  if (await stoppedInstead(engine, tx, claim)) return;
  const kept = `The finished work is kept: commit ${commit.slice(0, 12)}, branch ${claim.branch} in the clone of ${engine.owner}`;
  const reason: Failure = failure('push_refused', `${engine.mask(words)} ${kept}`);
  const block = lands ? { ...reason, commit } : reason;
  await blockTask(engine, tx, claim, block, { last_error: reason.message, phase: null });
  await releaseSlot(tx, 'task', claim.taskId);
}

/** `committed`: a git server refused the work. `uncommitted`: git could not commit it. */
export type Finished = 'committed' | 'uncommitted';

/** Returns null if an agent must work on the task. */
export async function finishedAs(tx: Reads, id: string): Promise<Finished | null> {
  const last = await lastAttempt(tx, id);
  if (last?.state !== 'interrupted') return null;
  if (last.failure_kind === 'commit_failed') return 'uncommitted';
  return last.failure_kind === 'push_refused' && last.commit_sha !== null ? 'committed' : null;
}
