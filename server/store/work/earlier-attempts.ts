// What the attempts of a task before, or until now, tell the one that runs.

import { textList } from '../rows/read.ts';
import type { Reads } from '../schema/tables.ts';

/** Failed tries at a plan; one that a person sent back is none. */
export async function countFailedPlans(db: Reads, taskId: string): Promise<number> {
  const failed = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('task_id', '=', taskId)
    .where('planning', '=', 1)
    .where('state', '=', 'failed')
    .where((eb) => eb.or([eb('failure_kind', 'is', null), eb('failure_kind', '!=', 'sent_back')]))
    .executeTakeFirstOrThrow();
  return failed.n;
}

/** The commit of the newest attempt before a number that has made one. */
export async function lastCommitBefore(
  db: Reads,
  taskId: string,
  number: number,
): Promise<string | null> {
  const row = await db
    .selectFrom('attempts')
    .select('commit_sha')
    .where('task_id', '=', taskId)
    .where('number', '<', number)
    .where('commit_sha', 'is not', null)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.commit_sha ?? null;
}

/** Snapshots of a task whose attempt was given back since it began; none where it never was. */
export async function refsKeptWhenReturned(
  db: Reads,
  taskId: string,
  attempt: number,
): Promise<readonly string[]> {
  const row = await db
    .selectFrom('attempts as a')
    .innerJoin('tasks as t', 't.id', 'a.task_id')
    .innerJoin('events as e', 'e.task_id', 'a.task_id')
    .select('t.rescue_refs')
    .where('a.task_id', '=', taskId)
    .where('a.number', '=', attempt)
    .where('e.type', '=', 'task.returned')
    .whereRef('e.at_ms', '>=', 'a.started_at_ms')
    .limit(1)
    .executeTakeFirst();
  return textList(row?.rescue_refs ?? null);
}
