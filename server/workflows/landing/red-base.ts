// A line whose tip fails the gate by itself: no task is to blame, so finished work waits, blocked,
// until the line has moved.

import { branchRef, landingRef } from '../../core/work/ref-names.ts';
import { failure, type Failure } from '../../core/failure.ts';
import {
  endLanding,
  taskOrRefuse,
  type TaskRow,
  tasksBlockedLike,
  type Tx,
} from '../../store/port.ts';
import { blockTask } from '../attempt/attempt-ends.ts';
import { backToReview } from './landing-returns.ts';
import { syncLine } from '../lines/lines.ts';
import type { Uses, AttemptInRun } from '../kit/engine-ports.ts';
import { stoppedInstead } from '../attempt/stops.ts';

/**
 * The start of the sentence that reports it; `releaseFromRedBase` parses the line and the location
 * from it.
 */
export async function redBaseWords(engine: Uses<'git'>, line: string): Promise<string> {
  return `${line} is red before any task (${await placeOf(engine, line)})`;
}

const redBasePattern = /^(\S+) is red before any task \(([0-9a-f+]+)\)/;

/** The current state of the line: its tip, and the branch if that is elsewhere. */
async function placeOf(engine: Uses<'git'>, line: string): Promise<string> {
  const tip = (await engine.git.readRef(landingRef(line))) ?? '';
  const branch = (await engine.git.readRef(branchRef(line))) ?? tip;
  const places = tip === branch ? [tip] : [tip, branch];
  return places.map((sha) => sha.slice(0, 12)).join('+');
}

export function redBaseFailure(red: Failure): Failure {
  return failure('interrupted', red.message, red.detail);
}

/** The attempt keeps its commit and is not used up: the work lands when the line is fixed. */
export async function waitForLine(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: AttemptInRun,
  reason: Failure,
): Promise<void> {
  await endLanding(tx, claim, 'returned');
  if (await stoppedInstead(engine, tx, claim)) return;
  const task = await taskOrRefuse(tx, claim.taskId);
  if (task.status === 'needs_review') return backToReview(engine, tx, claim, reason);
  await blockTask(engine, tx, claim, reason, { last_error: reason.message, phase: null });
}

/** Tasks that waited for a line which has moved since are ready again. Resolves with how many. */
export async function releaseFromRedBase(
  engine: Uses<'git' | 'machineId' | 'store'>,
): Promise<number> {
  const rows = await tasksBlockedLike(engine.store.db, '% is red before any task (%');
  let released = 0;
  for (const row of rows) {
    if (!(await hasMoved(engine, row.blocked_reason ?? ''))) continue;
    released += await engine.store.transaction((tx) => release(engine, tx, row));
  }
  return released;
}

async function hasMoved(
  engine: Uses<'git' | 'machineId' | 'store'>,
  reason: string,
): Promise<boolean> {
  const [, line, place] = redBasePattern.exec(reason) ?? [];
  if (line === undefined || place === undefined) return false;
  // Commits of people count once the line has taken them in.
  const synced = await syncLine(engine, line);
  return synced.ok && (await placeOf(engine, line)) !== place;
}

async function release(
  engine: Uses<'store'>,
  tx: Tx,
  row: Pick<TaskRow, 'id' | 'blocked_reason'>,
): Promise<number> {
  const outcome = await engine.store.transition(tx, {
    taskId: row.id,
    to: 'ready',
    from: ['blocked'],
    event: 'task.unblocked',
    data: { reason: 'the line has moved' },
    set: { blocked_reason: null, last_error: null },
  });
  return outcome.ok ? 1 : 0;
}
