// What is left to do in the scope of a run, and whether any of it can move.

import {
  activeRunsIn,
  epicsOfOthers,
  heldScopes,
  isUnblocked,
  readLine,
  type Reads,
  refusedPushes,
  refusedPushesMax,
  type RunRow,
} from '../../store/port.ts';

/**
 * Something that only a person can decide stopped the line, or a git server takes no work: what starts could not land, and
 * may begin at a wrong base.
 */
export async function isStopped(db: Reads, run: RunRow): Promise<boolean> {
  const line = await readLine(db, run.line);
  if ((line?.held_reason ?? null) !== null) return true;
  return (await refusedPushes(db, run.epic_id)).length >= refusedPushesMax;
}

export interface ScopeState {
  /** Tasks that are at work, land, or have a time at which they go on. */
  readonly moving: number;
  readonly left: number;
  readonly failed: number;
  readonly completed: number;
  readonly cancelled: number;
  readonly total: number;
}

/** The state of everything in the run's scope, sub-tasks included in the numbers but not in `moving`. */
export async function scopeState(db: Reads, run: RunRow): Promise<ScopeState> {
  // What another run has to itself is no part of this one.
  const theirs = epicsOfOthers(await activeRunsIn(db), run);
  const rows = await db
    .selectFrom('tasks')
    .select((eb) => ['status', eb.fn.countAll<number>().as('n')])
    .$if(run.epic_id !== null, (query) => query.where('epic_id', '=', run.epic_id))
    .$if(theirs.length > 0, (query) =>
      query.where((eb) => eb.or([eb('epic_id', 'is', null), eb('epic_id', 'not in', theirs)])),
    )
    .groupBy('status')
    .execute();
  const of = (status: string): number => rows.find((row) => row.status === status)?.n ?? 0;
  const total = rows.reduce((sum, row) => sum + row.n, 0);
  // Held for its epic's budget, a task moves only after a person has changed something.
  const held = await heldScopes(db);
  const heldEpics = [...held].flatMap((scope) =>
    scope.startsWith('epic/') ? [scope.slice('epic/'.length)] : [],
  );
  const isNothingStarted = await isStopped(db, run);
  const moving = await db
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('parent_id', 'is', null)
    .where((eb) =>
      eb.or([
        eb('status', 'in', ['claimed', 'in_progress']),
        ...(isNothingStarted
          ? []
          : [
              eb.and([
                eb.or([
                  eb('status', '=', 'ready'),
                  eb.and([eb('status', '=', 'waiting'), isUnblocked(eb)]),
                ]),
                eb.or([eb('epic_id', 'is', null), eb('epic_id', 'not in', heldEpics)]),
              ]),
            ]),
        // Approved: it lands, and frees what waits for it.
        eb.and([eb('status', '=', 'needs_review'), eb('phase', '=', 'land')]),
      ]),
    )
    .$if(run.epic_id !== null, (query) => query.where('epic_id', '=', run.epic_id))
    .$if(theirs.length > 0, (query) =>
      query.where((eb) => eb.or([eb('epic_id', 'is', null), eb('epic_id', 'not in', theirs)])),
    )
    .executeTakeFirstOrThrow();
  const completed = of('completed');
  const failed = of('failed');
  const cancelled = of('cancelled');
  return {
    moving: moving.n,
    failed,
    completed,
    cancelled,
    total,
    left: total - completed - failed - cancelled,
  };
}
