// The order that people give to tasks and epics: a number between those of the neighbors, and new
// numbers for all of them if no number is left between two.

import { sql } from 'kysely';
import type { Tx } from '../schema/tables.ts';

/** Closer than this no number is put between two others. */
const gapMin = 1e-7;

export interface Placed {
  /** The numbers in the order of the moved tasks. */
  readonly positions: readonly number[];
  /** Every task has got another number. */
  readonly renumbered: boolean;
}

/** Numbers for tasks that are placed, in this order, before another one (null: at the end). */
export async function positionsBefore(
  tx: Tx,
  ids: readonly string[],
  before: string | null,
): Promise<Placed> {
  const found = await between(tx, ids, before);
  if (found !== null) return { positions: found, renumbered: false };
  await renumberTasks(tx);
  const again = await between(tx, ids, before);
  if (again === null) throw new Error('no room is left between whole numbers');
  return { positions: again, renumbered: true };
}

async function between(
  tx: Tx,
  ids: readonly string[],
  before: string | null,
): Promise<readonly number[] | null> {
  const end = await endOf(tx, ids, before);
  const start = await lastBelow(tx, ids, end);
  if (end === null) return ids.map((_, index) => Math.floor(start ?? 0) + 1 + index);
  if (start === null) return ids.map((_, index) => Math.floor(end) - ids.length + index);
  const gap = (end - start) / (ids.length + 1);
  if (gap < gapMin) return null;
  return ids.map((_, index) => start + gap * (index + 1));
}

/**
 * The place in front of which they go: of the first task from there on that does not move itself.
 */
async function endOf(
  tx: Tx,
  ids: readonly string[],
  before: string | null,
): Promise<number | null> {
  if (before === null) return null;
  const at = await tx
    .selectFrom('tasks')
    .select('position')
    .where('id', '=', before)
    .executeTakeFirst();
  if (at === undefined || !ids.includes(before)) return at?.position ?? null;
  const next = await tx
    .selectFrom('tasks')
    .select('position')
    .where('position', '>', at.position)
    .where('id', 'not in', ids)
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
  return next?.position ?? null;
}

async function lastBelow(
  tx: Tx,
  ids: readonly string[],
  end: number | null,
): Promise<number | null> {
  const row = await tx
    .selectFrom('tasks')
    .select('position')
    .where('id', 'not in', ids)
    .$if(end !== null, (query) => query.where('position', '<', end ?? 0))
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.position ?? null;
}

/** Whole numbers in the present order. */
async function renumberTasks(tx: Tx): Promise<void> {
  await sql`
    update tasks set position = numbered.number
    from (select id, row_number() over (order by position, rowid) as number from tasks) as numbered
    where numbered.id = tasks.id`.execute(tx);
}

/**
 * Sub-tasks run in the order of their position, so their numbers are reassigned. True if one of
 * them got another number.
 */
export async function orderSubTasks(tx: Tx, parent: string): Promise<boolean> {
  const rows = await tx
    .selectFrom('tasks')
    .select(['id', 'sequence_number'])
    .where('parent_id', '=', parent)
    .orderBy('position')
    .execute();
  const numbers = rows.map((row) => row.sequence_number).toSorted((a, b) => a - b);
  let isChanged = false;
  for (const [index, row] of rows.entries()) {
    const sequence = numbers[index] ?? row.sequence_number;
    if (row.sequence_number === sequence) continue;
    isChanged = true;
    await tx
      .updateTable('tasks')
      .set({ sequence_number: sequence })
      .where('id', '=', row.id)
      .execute();
  }
  return isChanged;
}
