// What the dispatcher counts before it starts anything: work that waits to land, attempts on workers, the agents that the
// tasks of a scope need, and when time alone will let something start.

import { limitedAccounts } from './accounts.ts';
import type { Reads, TaskRow } from '../schema/tables.ts';

/** Tasks that have handed their work over and have not landed. `handedOver`: phases in which a task needs no worker. */
export async function countHandedOver(db: Reads, handedOver: readonly string[]): Promise<number> {
  const { n } = await db
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('status', '=', 'in_progress')
    .where('phase', 'in', [...handedOver])
    .where('parent_id', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Attempts that run on a worker, or are about to. */
export async function countOnWorkers(db: Reads, handedOver: readonly string[]): Promise<number> {
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

/** Where the tasks of an epic run, for the epics that say so. */
export async function placesOfEpics(db: Reads): Promise<ReadonlyMap<string, string | null>> {
  const rows = await db
    .selectFrom('epics')
    .select(['id', 'runs_on'])
    .where('runs_on', 'is not', null)
    .execute();
  return new Map(rows.map((row) => [row.id, row.runs_on]));
}

/** The next time after `nowMs` at which a task may start: the end of its delay, or of its agent's limit. Null: none. */
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

/** The agents that the unfinished tasks of a scope name: each pair once. */
export async function agentsNamed(
  db: Reads,
  epicId: string | null,
): Promise<readonly Pick<TaskRow, 'agent' | 'fallback'>[]> {
  return db
    .selectFrom('tasks')
    .select(['agent', 'fallback'])
    .distinct()
    .where('status', 'not in', ['completed', 'cancelled'])
    .$if(epicId !== null, (query) => query.where('epic_id', '=', epicId))
    .execute();
}
