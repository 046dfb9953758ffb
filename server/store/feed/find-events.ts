// Finds events of one attempt, run or task by type.

import { sql } from 'kysely';
import type { Reads } from '../schema/tables.ts';

/** Counts the events of a type in one attempt of a task. */
export async function countInAttempt(
  db: Reads,
  type: string,
  { taskId, attempt }: { readonly taskId: string; readonly attempt: number },
): Promise<number> {
  const rows = await db
    .selectFrom('events')
    .select('data')
    .where('type', '=', type)
    .where('task_id', '=', taskId)
    .execute();
  return rows.filter(({ data }) => (JSON.parse(data) as { attempt?: unknown }).attempt === attempt)
    .length;
}

export async function countInRun(db: Reads, type: string, runId: string): Promise<number> {
  const { count } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('type', '=', type)
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow();
  return count;
}

/** The number of the latest event of these types in a run. */
export async function lastSeqOfRun(
  db: Reads,
  runId: string,
  types: readonly string[],
): Promise<number | null> {
  const row = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('run_id', '=', runId)
    .where('type', 'in', [...types])
    .executeTakeFirst();
  return row?.seq ?? null;
}

/** The latest tree with a task's work that a gate has tested. */
export async function lastGatedTree(db: Reads, taskId: string): Promise<string | null> {
  const found = await db
    .selectFrom('events')
    .select('data')
    .where('type', 'in', ['gate.failed', 'gate.passed'])
    .where(sql<boolean>`replace(data, ${JSON.stringify(taskId)}, '') <> data`)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  const { tree } = JSON.parse(found?.data ?? '{}') as { readonly tree?: unknown };
  return typeof tree === 'string' ? tree : null;
}
