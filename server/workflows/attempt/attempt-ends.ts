// Ends an attempt that did not succeed: a failure that may be retried, an external cause, or an
// account at its limit.

import { storedCause } from '../../core/plan/block-cause.ts';
import { failure, type Failure, type FailureKind } from '../../core/failure.ts';
import { unusableKinds } from '../../core/work/fallback.ts';
import { retryDelayMs } from '../../core/work/retry.ts';
import type { DurableRun } from '../../durable/port.ts';
import {
  beginsFreely,
  type Claim,
  existingTask,
  failAttempt,
  goesOnAfter,
  limitAccount,
  limitedAccounts,
  type NextAgent,
  releaseSlot,
  setAttempt,
  type TaskRow,
  type TransitionSet,
  type Tx,
  noOwner,
} from '../../store/port.ts';
import { takesOver, takesOverAtLimit } from './fallback.ts';
import type { Uses, AttemptInRun } from '../kit/engine-ports.ts';
import { beginSlowly } from '../kit/holds.ts';
import { stoppedInstead } from './stops.ts';

export async function recordFailure(
  engine: Uses<'chance' | 'clock' | 'mask' | 'settings' | 'store'>,
  tx: Tx,
  claim: Claim,
  reason: Failure,
  /** Files that still conflict with the work of an earlier attempt. */
  conflictFiles: readonly string[] | null = null,
): Promise<void> {
  if (await stoppedInstead(engine, tx, claim)) return;
  const goesOn = await goesOnAfter(tx, claim, reason);
  const next = goesOn === null ? await takesOver(engine, tx, claim, reason.kind) : null;
  const row = await existingTask(tx, claim.taskId);
  // The run stops using this agent, so the task stays ready for a run in which the agent can start.
  const isFree = next === null && endsItsUse(row, reason);
  const masked: Failure = {
    ...reason,
    ...(isFree && { retryable: true }),
    message: engine.mask(reason.message),
    ...(reason.detail === undefined ? {} : { detail: engine.mask(reason.detail) }),
  };
  await failAttempt(tx, engine.store.sources, {
    taskId: claim.taskId,
    epoch: claim.epoch,
    attempt: claim.attempt,
    runId: claim.runId,
    failure: masked,
    retryAtMs:
      engine.clock.now() + (isFree ? 0 : delayBefore(engine, next, (goesOn ?? row.attempts) + 1)),
    isFree,
    ...(conflictFiles === null
      ? { atEnd: 'failed' as const }
      : { atEnd: 'conflict' as const, conflictFiles }),
    goesOn: goesOn !== null,
    ...(next === null ? {} : { next }),
  });
  if (goesOn === null) await releaseSlot(tx, 'task', claim.taskId);
}

/**
 * Whether the run stops using the agent on this machine. A candidate fails instead, so that a
 * person can choose another one.
 */
function endsItsUse(row: TaskRow, { kind }: Failure): boolean {
  return row.candidate_of === null && unusableKinds.includes(kind);
}

/**
 * Replaces an interrupted attempt that cannot be resumed. The new attempt continues from its
 * snapshot, and the interrupted one does not count.
 */
export async function beginAnew(
  engine: Uses<'chance' | 'clock' | 'store'>,
  tx: Tx,
  { taskId, epoch, attempt, runId }: Claim,
  message: string,
): Promise<void> {
  const before = await beginsFreely(tx, taskId);
  const { attempts } = await existingTask(tx, taskId);
  await failAttempt(tx, engine.store.sources, {
    taskId,
    epoch,
    attempt,
    runId,
    failure: failure('interrupted', message),
    retryAtMs: engine.clock.now() + delayBefore(engine, null, (before ?? attempts) + 1),
    atEnd: 'failed',
    isFree: before !== null,
  });
  await releaseSlot(tx, 'task', taskId);
}

/** Releases the task without using an attempt. It continues as soon as the obstacle is gone. */
export async function releaseWithoutAttempt(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: Claim,
  reason: string,
): Promise<void> {
  if (await stoppedInstead(engine, tx, claim)) return;
  await setAttempt(tx, claim.taskId, claim.attempt, {
    state: 'interrupted',
    failure_kind: 'interrupted',
    error: reason,
    pid: null,
    pid_start: null,
  });
  await engine.store.transition(tx, {
    taskId: claim.taskId,
    epoch: claim.epoch,
    to: 'ready',
    event: 'task.returned',
    runId: claim.runId,
    data: { reason },
    set: noOwner,
  });
}

/**
 * The delay grows with each failed attempt, or with each retry that used none. If the previous
 * agent could not even start, the next one does not need to wait.
 */
function delayBefore(engine: Uses<'chance'>, next: NextAgent | null, failed: number): number {
  return next?.usesAttempt === false ? 0 : retryDelayMs(failed, engine.chance());
}

export interface Block {
  /** Why the attempt ended for now. */
  readonly kind: FailureKind | 'blocked';
  readonly message: string;
  readonly detail?: string;
  /** The attempt's commit, if only its landing is missing and no agent needs to run. */
  readonly commit?: string;
}

/**
 * Blocks a task until a person removes the cause. The attempt is not used up and continues after
 * the task is resolved.
 */
export async function blockTask(
  engine: Uses<'store'>,
  tx: Tx,
  claim: AttemptInRun,
  { kind, message, detail, commit }: Block,
  set: TransitionSet = { last_error: message },
): Promise<void> {
  await setAttempt(tx, claim.taskId, claim.attempt, {
    state: 'interrupted',
    failure_kind: kind,
    error: message,
    error_detail: detail ?? null,
    ...(commit === undefined ? {} : { commit_sha: commit }),
  });
  await engine.store.transition(tx, {
    taskId: claim.taskId,
    epoch: claim.epoch,
    to: 'blocked',
    event: 'task.blocked',
    runId: claim.runId,
    data: { reason: message },
    set: { blocked_reason: message, blocked_by: storedCause({ kind: 'outside' }), ...set },
  });
}

export async function blockFromOutside(
  engine: Uses<'clock' | 'mask' | 'store'>,
  run: DurableRun<Tx>,
  claim: Claim,
  words: string,
): Promise<void> {
  const message = engine.mask(words);
  await run.commit('blocked', async (tx) => {
    if (await stoppedInstead(engine, tx, claim)) return;
    await blockTask(
      engine,
      tx,
      claim,
      { kind: 'blocked', message },
      { verdict: 'blocked', verdict_reason: message.slice(0, 200) },
    );
  });
}

/** How long to wait if an account's limit was reported without an end time. */
const unknownLimitMs = 60_000;
/** Spreads tasks that resume after a limit, so that they do not all resume in the same second. */
const limitJitterMs = 2_000;

export async function waitForAccount(
  engine: Uses<'chance' | 'clock' | 'mask' | 'settings' | 'store'>,
  run: DurableRun<Tx>,
  claim: Claim,
  untilMs: number | null,
  message: string,
): Promise<void> {
  await run.commit('limited', async (tx) => {
    if (await stoppedInstead(engine, tx, claim)) return;
    const until = untilMs ?? engine.clock.now() + unknownLimitMs;
    const wakeMs = Math.round(until + engine.chance() * limitJitterMs);
    const limit = { untilMs: until, message: engine.mask(message) };
    await limitAccount(tx, claim.agent, limit);
    await beginSlowly(tx, claim, until);
    const limited = await limitedAccounts(tx, engine.clock.now());
    const next = await takesOverAtLimit(engine, tx, claim, until, limited);
    if (next !== null) return passOnAtLimit(engine, tx, claim, message, next);
    await setAttempt(tx, claim.taskId, claim.attempt, { state: 'waiting' });
    await engine.store.transition(tx, {
      taskId: claim.taskId,
      epoch: claim.epoch,
      to: 'waiting',
      event: 'task.waiting',
      runId: claim.runId,
      data: { until: Math.ceil(wakeMs / 1000), reason: engine.mask(message) },
      set: { waiting_until_ms: wakeMs, ...noOwner },
    });
  });
}

/**
 * Passes the task to another agent at once, because only the account must wait. The work so far is
 * kept, as after any attempt.
 */
async function passOnAtLimit(
  engine: Uses<'clock' | 'mask' | 'store'>,
  tx: Tx,
  claim: Claim,
  message: string,
  next: NextAgent,
): Promise<void> {
  await failAttempt(tx, engine.store.sources, {
    taskId: claim.taskId,
    epoch: claim.epoch,
    attempt: claim.attempt,
    runId: claim.runId,
    failure: failure('account_limit', engine.mask(message)),
    retryAtMs: engine.clock.now(),
    atEnd: 'failed',
    next,
  });
  await releaseSlot(tx, 'task', claim.taskId);
}
