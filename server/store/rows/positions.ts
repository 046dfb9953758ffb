// The user's order of tasks and epics: a number between those of the neighbors, and new numbers for
// all if none is left between two.

import { sql } from 'kysely';
import type { Tx } from '../schema/tables.ts';

/** No number is inserted between two that are closer than this. */
const gapMin = 1e-7;

export interface Placed {
  /** The new numbers, in the order of the moved tasks. */
  readonly positions: readonly number[];
  /** All tasks were renumbered. */
  readonly renumbered: boolean;
}

/** Numbers for tasks that are inserted, in this order, before another one (null = at the end). */
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
 * The first task, from the given one on, that is not itself moved. The tasks are inserted before
 * it.
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

/** Assigns integers in the current order. */
async function renumberTasks(tx: Tx): Promise<void> {
  await sql`
    update tasks set position = numbered.number
    from (select id, row_number() over (order by position, rowid) as number from tasks) as numbered
    where numbered.id = tasks.id`.execute(tx);
}

/**
 * Renumbers sub-tasks by position, because they run in that order. Returns true if any number
 * changed.
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
