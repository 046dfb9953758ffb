// Permanently removes tasks from the plan, only if they never started and nothing depends on them.
// All or none.

import { Refusal } from '../../core/failure.ts';
import { ownedStatuses, removableStatuses } from '../../core/plan/state.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { refuseUnknownTasks, taskOrRefuse } from '../rows/find-rows.ts';
import { rebuildChains } from '../status/graph-rows.ts';
import { inParts } from '../rows/one-moment.ts';
import { readRemoved, type RemovedTask } from './restore.ts';
import { refreshReadiness, withParents } from '../status/readiness.ts';
import type { TaskRow, Tx } from '../schema/tables.ts';
import { checkedIds } from './task-move.ts';
import { taskAndSubTaskIds, rootTaskId } from '../status/transition.ts';

/** Removes sub-tasks with their parent. Resolves with all removed tasks. */
export async function removeTasks(
  tx: Tx,
  sources: StoreSources,
  given: readonly string[],
): Promise<readonly RemovedTask[]> {
  const ids = checkedIds(given, 'removed');
  await refuseUnknownTasks(tx, ids);
  const gone = new Set<string>();
  for (const id of ids) for (const member of await taskAndSubTaskIds(tx, id)) gone.add(member);
  const rows: TaskRow[] = [];
  for (const id of gone) {
    const row = await taskOrRefuse(tx, id);
    await refuseBegun(tx, row);
    rows.push(row);
  }
  await refuseNeeded(tx, gone);
  const removed = await readRemoved(tx, rows);
  const parents = new Set<string>();
  for (const { parent_id: parent } of rows) {
    if (parent === null || gone.has(parent)) continue;
    for (const id of await withParents(tx, parent)) parents.add(id);
  }
  for (const part of inParts([...gone])) {
    await tx.deleteFrom('tasks').where('id', 'in', part).execute();
  }
  for (const row of rows) {
    await appendEvent(tx, sources, {
      type: 'task.removed',
      taskId: row.id,
      epicId: row.epic_id,
      data: { title: row.title, parent: row.parent_id },
    });
  }
  await rebuildChains(tx);
  await refreshReadiness(tx, sources, parents);
  return removed;
}

async function refuseBegun(tx: Tx, row: TaskRow): Promise<void> {
  const attempt = await tx
    .selectFrom('attempts')
    .select('number')
    .where('task_id', '=', row.id)
    .limit(1)
    .executeTakeFirst();
  if (attempt !== undefined || !removableStatuses.has(row.status)) {
    throw new Refusal(
      'bad_state',
      `${row.id} is ${row.status} and has a history, which is kept. Cancel it instead.`,
    );
  }
  if (row.parent_id === null) return;
  const root = await taskOrRefuse(tx, await rootTaskId(tx, row.id));
  if (!ownedStatuses.has(root.status)) return;
  throw new Refusal(
    'bad_state',
    `${row.id} is a sub-task of ${root.id}, which is running. Pause ${root.id} first.`,
  );
}

async function refuseNeeded(tx: Tx, gone: ReadonlySet<string>): Promise<void> {
  for (const part of inParts([...gone])) {
    const edges = await tx
      .selectFrom('task_dependencies')
      .selectAll()
      .where('blocked_by', 'in', part)
      .orderBy('blocked_by')
      .orderBy('task_id')
      .execute();
    const needed = edges.find((edge) => !gone.has(edge.task_id));
    if (needed === undefined) continue;
    throw new Refusal(
      'bad_state',
      `${needed.task_id} waits for ${needed.blocked_by}. Remove that dependency first, or both tasks.`,
    );
  }
}
