// Returns work that could not land: to another attempt, or to the person who approved it.

import type { Failure } from '../../core/failure.ts';
import { retryDelayMs } from '../../core/work/retry.ts';
import {
  endApprovedLanding,
  endLanding,
  failAttempt,
  forgetLanding,
  goesOnAfter,
  noOwner,
  setAttempt,
  taskOrRefuse,
  type Tx,
} from '../../store/port.ts';
import { takesOver } from '../attempt/fallback.ts';
import type { Uses, AttemptInRun } from '../kit/engine-ports.ts';
import { stoppedInstead } from '../attempt/stops.ts';

export interface Returned {
  readonly reason: Failure;
  /** The task's state if no attempt is left. */
  readonly atEnd: 'failed' | 'conflict';
  readonly files: readonly string[] | null;
}

export async function returnLanding(
  engine: Uses<'chance' | 'clock' | 'settings' | 'store'>,
  tx: Tx,
  claim: AttemptInRun,
  { reason, atEnd, files }: Returned,
): Promise<void> {
  const { store, clock, chance } = engine;
  const commit = await endLanding(tx, claim, 'returned');
  if (await stoppedInstead(engine, tx, claim)) return;
  const task = await taskOrRefuse(tx, claim.taskId);
  const goesOn = await goesOnAfter(tx, claim, reason);
  const next = goesOn === null ? await takesOver(engine, tx, claim, reason.kind) : null;
  const isLast = !reason.retryable || (goesOn === null && task.attempts + 1 >= task.max_attempts);
  if (task.status === 'needs_review' && (isLast || reason.kind === 'line_held')) {
    if (task.epoch === claim.epoch) await backToReview(engine, tx, claim, reason);
    return;
  }
  // The commit that a person approved may differ from the agent's.
  if (task.status === 'needs_review' && goesOn !== null && commit !== null)
    await setAttempt(tx, claim.taskId, claim.attempt, { commit_sha: commit });
  const delayMs =
    reason.kind === 'conflict' ? 0 : retryDelayMs((goesOn ?? task.attempts) + 1, chance());
  await failAttempt(tx, store.sources, {
    taskId: claim.taskId,
    epoch: claim.epoch,
    attempt: claim.attempt,
    runId: claim.runId,
    failure: reason,
    retryAtMs: clock.now() + delayMs,
    atEnd,
    goesOn: goesOn !== null,
    ...(files === null ? {} : { conflictFiles: files }),
    ...(next === null ? {} : { next }),
  });
}

/** Asks a person about work that no attempt can fix. */
export async function reviewLanding(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: AttemptInRun,
  reason: string,
  kind: 'reviewed' | 'unmerged' = 'unmerged',
): Promise<void> {
  const { taskId, epoch, attempt, runId } = claim;
  const commit = await endLanding(tx, claim, 'returned');
  if (await stoppedInstead(engine, tx, claim)) return;
  await setAttempt(tx, taskId, attempt, {
    failure_kind: kind,
    ended_at_ms: engine.clock.now(),
  });
  await engine.store.transition(tx, {
    taskId,
    epoch,
    runId,
    to: 'needs_review',
    event: 'task.needs_review',
    data: { kind, files: [], reason },
    set: {
      ...noOwner,
      review_kind: kind,
      commit_sha: commit,
      verdict: 'unknown',
      verdict_reason: reason,
      last_error: reason,
    },
  });
}

/** No attempt is left that could fix the work, so the person who approved it decides again. */
export async function backToReview(
  engine: Uses<'store'>,
  tx: Tx,
  claim: AttemptInRun,
  reason: Failure,
): Promise<void> {
  await forgetLanding(tx, claim);
  await endApprovedLanding(tx, claim.taskId, reason.message);
  await engine.store.append(tx, {
    type: 'task.needs_review',
    taskId: claim.taskId,
    runId: claim.runId,
    data: { attempt: claim.attempt, kind: reason.kind, reason: reason.message },
  });
}
