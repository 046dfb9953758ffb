// Stops of a running task: pause, cancel, and the end of a run. They are requested in the row and
// carried out by the workflow.

import { ownedStatuses } from '../../core/plan/state.ts';
import type { DurableRun } from '../../durable/port.ts';
import {
  type Claim,
  lastAttempt,
  releaseSlot,
  setAttempt,
  type StopKind,
  taskById,
  type Tx,
  withdrawQuestions,
  noOwner,
  noStop,
} from '../../store/port.ts';
import { endLeftAgent } from '../landing/orphan-commands.ts';
import type { AttemptInRun, AttemptOfTask, Uses } from '../kit/engine-ports.ts';
import { keepAttemptWork, type KeptNote } from './kept-work.ts';

export async function isStopRequested(
  engine: Uses<'store'>,
  claim: AttemptOfTask,
): Promise<boolean> {
  const row = await taskById(engine.store.db, claim.taskId);
  if (row === null || row.epoch !== claim.epoch) return true;
  return row.stop_requested !== null || !ownedStatuses.has(row.status);
}

/** Carries out a stop request, after all processes of the attempt have ended. */
export async function settleStop(
  engine: Uses<
    'clock' | 'files' | 'git' | 'machineId' | 'places' | 'processes' | 'report' | 'store'
  >,
  run: DurableRun<Tx>,
  claim: Claim,
): Promise<string> {
  await endLeftAgent(engine, claim.taskId, claim.epoch);
  await keepStopped(engine, claim);
  await run.commit('stopped', (tx) => settleStopInTransaction(engine, tx, claim));
  return 'stopped';
}

/** Keeps the attempt's work first, whatever the request is. */
async function keepStopped(
  engine: Uses<'files' | 'git' | 'machineId' | 'report' | 'store'>,
  claim: Claim,
): Promise<void> {
  const row = await taskById(engine.store.db, claim.taskId);
  const kind = row?.stop_requested ?? 'stop';
  await keepAttemptWork(engine, claim, stopNotes[kind]);
}

const stopNotes: Readonly<Record<StopKind, KeptNote>> = {
  pause: { reason: 'paused', author: 'agent' },
  cancel: { reason: 'cancelled', author: 'agent' },
  stop: { reason: 'stopped', author: 'agent' },
};

export async function settleStopInTransaction(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: AttemptInRun,
): Promise<void> {
  const row = await taskById(tx, claim.taskId);
  if (row === null || row.epoch !== claim.epoch) return;
  // Another transition has already taken the task from its owner. A task that waits for a person is
  // stopped only by a person's request, not by the replay of an attempt that has ended.
  const isApproved = row.status === 'needs_review' && row.stop_requested !== null;
  if (!ownedStatuses.has(row.status) && !isApproved) return;
  const kind = row.stop_requested ?? 'stop';
  const { store } = engine;
  await withdrawQuestions(tx, store.sources, claim.taskId);
  const last = await lastAttempt(tx, claim.taskId);
  // Only the commit of its work is missing, so its agent is not started again.
  const isFinished = last?.number === claim.attempt && last.failure_kind === 'commit_failed';
  await setAttempt(tx, claim.taskId, claim.attempt, {
    state: 'interrupted',
    failure_kind: isFinished ? 'commit_failed' : 'interrupted',
    error: row.stop_reason,
    pid: null,
    pid_start: null,
  });
  const change = stopTargets[kind];
  await store.transition(tx, {
    taskId: claim.taskId,
    epoch: claim.epoch,
    to: change.to,
    event: change.event,
    runId: claim.runId,
    data: { reason: row.stop_reason },
    set: { ...noOwner, ...noStop },
  });
  if (kind === 'cancel' && !isFinished) {
    await setAttempt(tx, claim.taskId, claim.attempt, {
      state: 'failed',
      ended_at_ms: engine.clock.now(),
    });
    await releaseSlot(tx, 'task', claim.taskId);
  }
}

/**
 * Handles a stop that a person requested while the attempt ended by itself: the person's request
 * wins. Returns true if it was carried out, so that nothing else must be written.
 */
export async function stoppedInstead(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: AttemptInRun,
): Promise<boolean> {
  const row = await taskById(tx, claim.taskId);
  if (row === null || row.stop_requested === null || row.epoch !== claim.epoch) return false;
  await settleStopInTransaction(engine, tx, claim);
  return true;
}

const stopTargets = {
  pause: { to: 'paused', event: 'task.paused' },
  cancel: { to: 'cancelled', event: 'task.cancelled' },
  stop: { to: 'ready', event: 'task.returned' },
} as const;
