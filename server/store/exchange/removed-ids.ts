// Finds tasks and epics that were once in the plan and were removed from it.

import type { Db } from '../rows/one-moment.ts';

/** Includes ids that are in the plan again. */
export async function removedIds(db: Db): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('events')
    .select(['type', 'task_id', 'epic_id'])
    .where('type', 'in', ['task.removed', 'epic.removed'])
    .execute();
  return new Set(
    rows.flatMap((row) => (row.type === 'epic.removed' ? row.epic_id : row.task_id) ?? []),
  );
}
