// Moves tasks: into epics, below other tasks, and to a position in the user's order. All or none.

import { Refusal } from '../../core/failure.ts';
import { editTask } from './task-edit.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { refuseUnknownTasks, taskOrRefuse } from '../rows/find-rows.ts';
import { readGraph, rebuildChains, refuseLoops } from '../status/graph-rows.ts';
import { orderSubTasks, positionsBefore } from '../rows/positions.ts';
import type { Tx } from '../schema/tables.ts';

export interface TaskMove {
  readonly ids: readonly string[];
  /** Null removes it from its epic; undefined does not change it. */
  readonly epic?: string | null;
  readonly parent?: string | null;
  /** The task before which they are inserted; null = at the end. */
  readonly before: string | null;
}

const movedMax = 1_000;

export async function moveTasks(
  tx: Tx,
  sources: StoreSources,
  move: TaskMove,
): Promise<readonly string[]> {
  const ids = checkedIds(move.ids, 'moved');
  await refuseUnknownTasks(tx, move.before === null ? ids : [...ids, move.before]);
  const graph = await readGraph(tx);
  const formerParents = new Map<string, string | null>();
  for (const id of ids) {
    const row = await taskOrRefuse(tx, id);
    formerParents.set(id, row.parent_id);
    const epic = move.epic === row.epic_id ? undefined : move.epic;
    const parent = move.parent === row.parent_id ? undefined : move.parent;
    if (epic === undefined && parent === undefined) continue;
    await editTask(tx, sources, id, {
      ...(epic === undefined ? {} : { epic }),
      ...(parent === undefined ? {} : { parent }),
    });
  }
  const { positions, renumbered } = await positionsBefore(tx, ids, move.before);
  if (renumbered) await appendEvent(tx, sources, { type: 'tasks.renumbered' });
  const now = Math.floor(sources.clock.now() / 1000);
  for (const [index, id] of ids.entries()) {
    const position = positions[index] ?? 0;
    await tx.updateTable('tasks').set({ position, updated_at: now }).where('id', '=', id).execute();
    const row = await taskOrRefuse(tx, id);
    const data = { title: row.title, before: move.before, from_parent: formerParents.get(id) };
    await appendEvent(tx, sources, { type: 'task.moved', taskId: id, epicId: row.epic_id, data });
  }
  await settleSubTasks(tx, ids, graph);
  return ids;
}

/** Sub-tasks run in their order, which must not contradict their blockers. */
async function settleSubTasks(
  tx: Tx,
  ids: readonly string[],
  before: Awaited<ReturnType<typeof readGraph>>,
): Promise<void> {
  const parents = new Map<string, string>();
  for (const id of ids) {
    const { parent_id: parent } = await taskOrRefuse(tx, id);
    if (parent !== null) parents.set(parent, id);
  }
  let graph = null;
  for (const [parent, moved] of parents) {
    if (await orderSubTasks(tx, parent)) graph = await refuseLoops(tx, moved, before);
  }
  if (graph !== null) await rebuildChains(tx, graph);
}

/** Returns the ids without duplicates, in their order. */
export function checkedIds(given: readonly string[], verb: string): readonly string[] {
  const ids = [...new Set(given.map((id) => id.trim()))];
  if (ids.length === 0) {
    throw new Refusal('bad_request', `No task was named that can be ${verb}. Name some tasks.`);
  }
  if (ids.length > movedMax) {
    throw new Refusal(
      'bad_request',
      `${ids.length} tasks were named, ${movedMax} can be ${verb} at once; take fewer of them.`,
    );
  }
  return ids;
}
