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
 * A problem that only a person can solve stopped the line, or a git server refuses work: new work
 * could not land, and might start from a wrong base.
 */
export async function isStopped(db: Reads, run: RunRow): Promise<boolean> {
  const [line, refused] = await Promise.all([
    readLine(db, run.line),
    refusedPushes(db, run.epic_id),
  ]);
  return (line?.held_reason ?? null) !== null || refused.length >= refusedPushesMax;
}

export interface ScopeState {
  /** Tasks that are running, land, or have a time at which they continue. */
  readonly moving: number;
  readonly left: number;
  readonly failed: number;
  readonly completed: number;
  readonly cancelled: number;
  readonly total: number;
}

/** Tasks of the run that move, without some of them. */
export async function countMoving(
  db: Reads,
  run: RunRow,
  except: readonly string[] = [],
): Promise<number> {
  // Held for its epic's budget, a task moves only after a person has changed something.
  const held = await heldScopes(db);
  const heldEpics = [...held].flatMap((name) =>
    name.startsWith('epic/') ? [name.slice('epic/'.length)] : [],
  );
  const canStart = !(await isStopped(db, run));
  // Tasks that belong to another run are not part of this one.
  const scope = await scopeOfRun(db, run, await activeRunsIn(db));
  return movingInScope(db, scope, { canStart, heldEpics, except });
}

/**
 * The state of everything in the run's scope, sub-tasks included in the numbers but not in
 * `moving`. Tasks of `notMoving` cannot start in this run.
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
