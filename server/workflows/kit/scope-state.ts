// The remaining work in the scope of a run, and whether any of it can start.

import type { TaskStatus } from '../../core/plan/state.ts';
import {
  activeRunsIn,
  countsInScope,
  heldScopes,
  movingInScope,
  readLine,
  type Reads,
  refusedPushes,
  refusedPushesMax,
  type RunRow,
  scopeOfRun,
} from '../../store/port.ts';

/**
 * Whether a problem that only a person can solve has stopped the line, or a git server refuses
 * work. New work could then not land, and might start from a wrong base.
 */
export async function isStopped(db: Reads, run: RunRow): Promise<boolean> {
  const [line, refused] = await Promise.all([
    readLine(db, run.line),
    refusedPushes(db, run.epic_id),
  ]);
  return (line?.held_reason ?? null) !== null || refused.length >= refusedPushesMax;
}

export interface ScopeState {
  /** Number of tasks that are running, landing, or waiting until a known time. */
  readonly moving: number;
  readonly left: number;
  readonly failed: number;
  readonly completed: number;
  readonly cancelled: number;
  readonly total: number;
}

/** Counts the tasks of the run that can proceed without a person, except for the given ones. */
export async function countMoving(
  db: Reads,
  run: RunRow,
  except: readonly string[] = [],
): Promise<number> {
  // A task that is held by its epic's budget proceeds only after a person acts.
  const held = await heldScopes(db);
  const heldEpics = [...held].flatMap((name) =>
    name.startsWith('epic/') ? [name.slice('epic/'.length)] : [],
  );
  const canStart = !(await isStopped(db, run));
  // Tasks that belong to another run do not count.
  const scope = await scopeOfRun(db, run, await activeRunsIn(db));
  return movingInScope(db, scope, { canStart, heldEpics, except });
}

/**
 * The state of all tasks in the run's scope. Sub-tasks are included in the numbers, but not in
 * `moving`. Tasks in `notMoving` cannot start in this run.
 */
export async function scopeState(
  db: Reads,
  run: RunRow,
  notMoving: readonly string[] = [],
): Promise<ScopeState> {
  const counts = await countsInScope(db, await scopeOfRun(db, run, await activeRunsIn(db)));
  const of = (status: TaskStatus): number => counts.get(status) ?? 0;
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  const moving = await countMoving(db, run, notMoving);
  const completed = of('completed');
  const failed = of('failed');
  const cancelled = of('cancelled');
  return {
    moving,
    failed,
    completed,
    cancelled,
    total,
    left: total - completed - failed - cancelled,
  };
}
