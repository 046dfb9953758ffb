// Updates the status of tasks (ready or blocked) after edges have changed.

import type { StoreSources } from '../feed/feed.ts';
import type { Tx } from '../schema/tables.ts';
import { transition, unmetBlockers } from './transition.ts';

/** Checks each task again. A task with an external block keeps its reason. */
export async function refreshReadiness(
  tx: Tx,
  sources: StoreSources,
  taskIds: Iterable<string>,
): Promise<void> {
  for (const id of taskIds) {
    const row = await tx
      .selectFrom('tasks')
      .select(['status', 'blocked_reason'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined) continue;
    if (row.status === 'ready') {
      const unmet = await unmetBlockers(tx, id);
      if (unmet.length === 0) continue;
      await transition(tx, sources, {
        taskId: id,
        to: 'blocked',
        event: 'task.blocked',
        data: { by: unmet },
      });
    } else if (row.status === 'blocked' && row.blocked_reason === null) {
      if ((await unmetBlockers(tx, id)).length > 0) continue;
      await transition(tx, sources, { taskId: id, to: 'ready', event: 'task.unblocked' });
    }
  }
}

/** The task and its ancestors, whose readiness depends on its edges. */
export async function withParents(tx: Tx, taskId: string): Promise<string[]> {
  const ids: string[] = [];
  let current: string | null = taskId;
  for (let depth = 0; current !== null && depth < 4; depth += 1) {
    ids.push(current);
    const row: { parent_id: string | null } | undefined = await tx
      .selectFrom('tasks')
      .select('parent_id')
      .where('id', '=', current)
      .executeTakeFirst();
    current = row?.parent_id ?? null;
  }
  return ids;
}
