// How active runs share the work: which tasks belong to which run, which runs have a worker, which
// landings wait, which agents a scope needs, and when time alone allows a task to start.

import { handedOver } from '../../core/plan/task.ts';
import { limitedAccounts } from './accounts.ts';
import type { Reads, RunRow, TaskRow } from '../schema/tables.ts';
import { tasksOfRun } from './runs.ts';
import type { Scope } from '../rows/scope.ts';

/** Epics that belong to other active runs. A run of all tasks leaves their tasks alone. */
export function epicsOfOthers(active: readonly RunRow[], run: RunRow): string[] {
  if (run.epic_id !== null) return [];
  return active.flatMap((row) => {
    // A run of single tasks does not own its epic.
    const isWhole = row.epic_id !== null && tasksOfRun(row) === null;
    return row.id !== run.id && isWhole && row.epic_id !== null ? [row.epic_id] : [];
  });
}

/** Lines of other active runs that finally land on a target. */
export function linesOnTheWay(active: readonly RunRow[], runId: string): string[] {
  const others = active.filter(
    ({ id, line, target_branch: target }) => id !== runId && line !== target,
  );
  return [...new Set(others.map(({ line }) => line))];
}

/** Tasks whose agent runs or is about to run, by the run that started them. */
export async function busyByRun(db: Reads): Promise<ReadonlyMap<string | null, number>> {
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

/** When each run last started an attempt (Unix ms). Runs that have not started any are omitted. */
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

/** The largest number of workers of any active run; 1 if no run is active. */
export async function workersOfLargestRun(db: Reads): Promise<number> {
  const row = await db
    .selectFrom('runs')
    .select((eb) => eb.fn.max('workers').as('workers'))
    .where('state', '=', 'active')
    .executeTakeFirst();
  return row?.workers ?? 1;
}

/** Number of tasks that workflows own now, including sub-tasks. */
export async function countOwnedTasks(db: Reads): Promise<number> {
  const row = await db
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('status', 'in', ['claimed', 'in_progress'])
    .executeTakeFirstOrThrow();
  return row.n;
}

/** Tasks whose current attempt belongs to one of these runs. */
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

/** Number of tasks whose work is finished but has not landed. */
export async function countHandedOver(db: Reads): Promise<number> {
  const { n } = await db
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('status', '=', 'in_progress')
    .where('phase', 'in', [...handedOver])
    .where('parent_id', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Number of attempts that run on a worker or are about to. */
export async function countOnWorkers(db: Reads): Promise<number> {
  const { n } = await db
    .selectFrom('tasks as t')
    .innerJoin('attempts as a', (join) =>
      join.onRef('a.task_id', '=', 't.id').onRef('a.epoch', '=', 't.epoch'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('t.status', 'in', ['claimed', 'in_progress'])
    .where('a.runs_on', '=', 'remote')
    .where((eb) => eb.or([eb('t.phase', 'is', null), eb('t.phase', 'not in', [...handedOver])]))
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** The place in which an epic's tasks run, for epics with their own value. */
export async function placesOfEpics(db: Reads): Promise<ReadonlyMap<string, string | null>> {
  const rows = await db
    .selectFrom('epics')
    .select(['id', 'runs_on'])
    .where('runs_on', 'is not', null)
    .execute();
  return new Map(rows.map((row) => [row.id, row.runs_on]));
}

/**
 * The next time after `nowMs` at which a task may start: the end of its delay or of its agent's
 * limit. Returns null if none is waiting.
 */
export async function nextStartMs(
  db: Reads,
  scope: { readonly epicId: string | null },
  nowMs: number,
): Promise<number | null> {
  const row = await db
    .selectFrom('tasks')
    .select((eb) => [
      eb.fn.min('next_attempt_at_ms').filterWhere('next_attempt_at_ms', '>', nowMs).as('retry'),
      eb.fn.min('waiting_until_ms').filterWhere('waiting_until_ms', '>', nowMs).as('waiting'),
    ])
    .where('status', 'in', ['ready', 'waiting'])
    .where('parent_id', 'is', null)
    .$if(scope.epicId !== null, (query) => query.where('epic_id', '=', scope.epicId))
    .executeTakeFirst();
  const limits = (await limitedAccounts(db, nowMs)).values();
  const times = [row?.retry, row?.waiting, ...limits].filter((time) => typeof time === 'number');
  return times.length === 0 ? null : Math.min(...times);
}

/** The distinct agents that unfinished tasks of a scope name, with their models. */
export async function agentsNamed(
  db: Reads,
  { epicId, tasks }: Pick<Scope, 'epicId' | 'tasks'>,
): Promise<readonly Pick<TaskRow, 'agent' | 'model' | 'fallback'>[]> {
  return db
    .selectFrom('tasks')
    .select(['agent', 'model', 'fallback'])
    .distinct()
    .where('status', 'not in', ['completed', 'cancelled'])
    .$if(epicId !== null, (query) => query.where('epic_id', '=', epicId))
    .$if(tasks !== null, (query) => query.where('id', 'in', tasks ?? []))
    .execute();
}

/** Number of ready top-level tasks. */
export async function countReady(db: Reads): Promise<number> {
  const { n } = await db
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('status', '=', 'ready')
    .where('parent_id', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(n);
}

/**
 * Top-level tasks that a workflow must own: running ones, and approved ones until they have landed.
 */
export async function ownedTasks(
  db: Reads,
): Promise<readonly Pick<TaskRow, 'id' | 'epoch' | 'status' | 'attempts'>[]> {
  return db
    .selectFrom('tasks')
    .select(['id', 'epoch', 'status', 'attempts'])
    .where('parent_id', 'is', null)
    .where((eb) =>
      eb.or([
        eb('status', 'in', ['claimed', 'in_progress']),
        // An approved task keeps its status until it has landed.
        eb.and([eb('status', '=', 'needs_review'), eb('phase', '=', 'land')]),
      ]),
    )
    .execute();
}
