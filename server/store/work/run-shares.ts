// What several active runs have to do with each other: whose tasks are whose, and who has a worker.

import type { Reads, RunRow } from '../schema/tables.ts';

/** Epics that other active runs have to themselves: a run of everything leaves their tasks alone. */
export function epicsOfOthers(active: readonly RunRow[], run: RunRow): string[] {
  if (run.epic_id !== null) return [];
  return active.flatMap((row) => (row.id === run.id || row.epic_id === null ? [] : [row.epic_id]));
}

/** Tasks with an agent running or about to run, by the run that has started them. `handedOver`: phases that need no worker. */
export async function busyByRun(
  db: Reads,
  handedOver: readonly string[],
): Promise<ReadonlyMap<string | null, number>> {
  const rows = await db
    .selectFrom('tasks as t')
    .leftJoin('attempts as a', (join) =>
      join.onRef('a.task_id', '=', 't.id').onRef('a.epoch', '=', 't.epoch'),
    )
    .select((eb) => ['a.run_id', eb.fn.countAll<number>().as('n')])
    .where('t.status', 'in', ['claimed', 'in_progress'])
    .where('t.parent_id', 'is', null)
    .where((eb) => eb.or([eb('t.phase', 'is', null), eb('t.phase', 'not in', [...handedOver])]))
    .groupBy('a.run_id')
    .execute();
  return new Map(rows.map((row) => [row.run_id, Number(row.n)]));
}

/** When each of the runs has last started an attempt (Unix ms); a run that has started none is not in it. */
export async function lastStarts(
  db: Reads,
  runs: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('attempts')
    .select((eb) => ['run_id', eb.fn.max('started_at_ms').as('at')])
    .where('run_id', 'in', [...runs])
    .groupBy('run_id')
    .execute();
  return new Map(rows.map((row) => [row.run_id ?? '', Number(row.at)]));
}

/** The most workers that an active run has; 1 where no run is active. */
export async function workersOfLargestRun(db: Reads): Promise<number> {
  const row = await db
    .selectFrom('runs')
    .select((eb) => eb.fn.max('workers').as('workers'))
    .where('state', '=', 'active')
    .executeTakeFirst();
  return row?.workers ?? 1;
}

/** Tasks that workflows own now, sub-tasks included. */
export async function countOwnedTasks(db: Reads): Promise<number> {
  const row = await db
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('status', 'in', ['claimed', 'in_progress'])
    .executeTakeFirstOrThrow();
  return row.n;
}

/** Tasks whose present attempt belongs to one of these runs. */
export async function tasksOwnedByRuns(
  db: Reads,
  runs: readonly string[],
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('tasks as t')
    .innerJoin('attempts as a', (join) =>
      join.onRef('a.task_id', '=', 't.id').onRef('a.epoch', '=', 't.epoch'),
    )
    .select('t.id')
    .where('t.status', 'in', ['claimed', 'in_progress'])
    .where('a.run_id', 'in', [...runs])
    .execute();
  return rows.map((row) => row.id);
}
