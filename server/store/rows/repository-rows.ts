// Identifies the repository that a plan belongs to, in one row that is written when the project is
// created.

import type { Reads, StoreTables, Tx } from '../schema/tables.ts';
import type { Selectable } from 'kysely';

export type RepositoryRow = Selectable<StoreTables['repository']>;

/** Null if an older version created the plan. */
export async function readRepository(db: Reads): Promise<RepositoryRow | null> {
  return (await db.selectFrom('repository').selectAll().executeTakeFirst()) ?? null;
}

export async function writeRepository(tx: Tx, row: RepositoryRow): Promise<void> {
  await tx.deleteFrom('repository').execute();
  await tx.insertInto('repository').values(row).execute();
}

/** Whether an attempt has a folder and possibly an agent now. */
export async function hasAttemptsInFlight(db: Reads): Promise<boolean> {
  const row = await db
    .selectFrom('tasks')
    .select('id')
    .where('status', 'in', ['claimed', 'in_progress'])
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Removes slots that are not `ours`: they belong to the repository that this one is a copy of.
 * Resolves with their number.
 */
export async function forgetSlotsOfOthers(
  tx: Tx,
  machine: string,
  ours: (path: string) => boolean,
): Promise<number> {
  const slots = await tx
    .selectFrom('slots')
    .select('path')
    .where('machine', '=', machine)
    .execute();
  const theirs = slots.filter((slot) => !ours(slot.path));
  for (const { path } of theirs) {
    await tx.deleteFrom('slots').where('machine', '=', machine).where('path', '=', path).execute();
    await tx
      .updateTable('tasks')
      .set({ worktree_path: null })
      .where('worktree_path', '=', path)
      .execute();
  }
  return theirs.length;
}
