// The attempts whose logs a search covers, newest first, with the parts that each may have.

import type { Db } from '../rows/one-moment.ts';
import { inParts, readAtOneMoment } from '../rows/one-moment.ts';
import { NearTasks } from '../rows/near-tasks.ts';

export interface SearchedPart {
  /** The task itself or one of its sub-tasks. */
  readonly id: string;
  readonly title: string;
}

export interface SearchedAttempt {
  readonly taskId: string;
  readonly number: number;
  readonly runId: string | null;
  readonly agent: string | null;
  readonly machine: string;
  readonly startedMs: number;
  readonly parts: readonly SearchedPart[];
}

/** The last attempt of the previous page. */
export type SearchedAfter = Pick<SearchedAttempt, 'taskId' | 'number' | 'startedMs'>;

export async function countAttempts(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function attemptsToSearch(
  db: Db,
  after: SearchedAfter | null,
  max: number,
): Promise<readonly SearchedAttempt[]> {
  return readAtOneMoment(db, async (at) => {
    const rows = await at
      .selectFrom('attempts')
      .innerJoin('tasks', 'tasks.id', 'attempts.task_id')
      .select(['task_id', 'number', 'run_id', 'machine', 'started_at_ms', 'title'])
      .select('attempts.agent as agent')
      .$if(after !== null, (query) =>
        query.where((eb) => {
          const { startedMs = 0, taskId = '', number = 0 } = after ?? {};
          return eb.or([
            eb('started_at_ms', '<', startedMs),
            eb.and([eb('started_at_ms', '=', startedMs), eb('task_id', '>', taskId)]),
            eb.and([
              eb('started_at_ms', '=', startedMs),
              eb('task_id', '=', taskId),
              eb('number', '<', number),
            ]),
          ]);
        }),
      )
      .orderBy('started_at_ms', 'desc')
      .orderBy('task_id')
      .orderBy('number', 'desc')
      .limit(max)
      .execute();
    const subs = await subTasksOf(at, [...new Set(rows.map((row) => row.task_id))]);
    return rows.map((row) => ({
      taskId: row.task_id,
      number: row.number,
      runId: row.run_id,
      agent: row.agent,
      machine: row.machine,
      startedMs: row.started_at_ms,
      parts: [{ id: row.task_id, title: row.title }, ...(subs.get(row.task_id) ?? [])],
    }));
  });
}

/** The sub-tasks of each task, at every depth. */
async function subTasksOf(
  db: Db,
  roots: readonly string[],
): Promise<ReadonlyMap<string, readonly SearchedPart[]>> {
  const families = await new NearTasks(db).families(roots);
  const ids = [...families].flatMap(([root, family]) => family.filter((id) => id !== root));
  const parts = new Map<string, SearchedPart>();
  for (const part of inParts(ids)) {
    const rows = await db
      .selectFrom('tasks')
      .select(['id', 'title'])
      .where('id', 'in', part)
      .execute();
    for (const row of rows) parts.set(row.id, row);
  }
  return new Map(
    [...families].map(([root, family]) => [
      root,
      family.flatMap((id) => (id === root ? [] : (parts.get(id) ?? []))),
    ]),
  );
}
