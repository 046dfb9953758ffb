// Undoes a removal by restoring the same rows with the same ids, as long as this backend runs.

import { Refusal } from '../../core/failure.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { isIdTaken } from '../rows/find-rows.ts';
import { rebuildChains } from '../status/graph-rows.ts';
import { inParts } from '../rows/one-moment.ts';
import { refreshReadiness, withParents } from '../status/readiness.ts';
import { insertBlockers } from './tasks.ts';
import type { EpicRow, TaskRow, Tx } from '../schema/tables.ts';

export interface RemovedTask {
  readonly row: TaskRow;
  readonly blockedBy: readonly string[];
}

export interface Removed {
  readonly epics: readonly EpicRow[];
  readonly tasks: readonly RemovedTask[];
}

/** Reads the rows that `removeTasks` is about to delete. */
export async function readRemoved(tx: Tx, rows: readonly TaskRow[]): Promise<RemovedTask[]> {
  const edges = new Map<string, string[]>();
  for (const part of inParts(rows.map(({ id }) => id))) {
    const found = await tx
      .selectFrom('task_dependencies')
      .selectAll()
      .where('task_id', 'in', part)
      .execute();
    for (const { task_id, blocked_by } of found)
      edges.set(task_id, [...(edges.get(task_id) ?? []), blocked_by]);
  }
  return rows.map((row) => ({ row, blockedBy: edges.get(row.id) ?? [] }));
}

/**
 * Restores all rows or none. Omits references to rows that no longer exist (an epic, a blocker).
 */
export async function restoreRemoved(
  tx: Tx,
  sources: StoreSources,
  { epics, tasks }: Removed,
): Promise<void> {
  for (const id of [...epics.map((row) => row.id), ...tasks.map(({ row }) => row.id)]) {
    if (await isIdTaken(tx, id))
      throw new Refusal('id_taken', `${id} exists already; nothing was restored.`);
  }
  for (const row of epics) {
    await tx.insertInto('epics').values(row).execute();
    const data = { title: row.title };
    await appendEvent(tx, sources, { type: 'epic.created', epicId: row.id, data });
  }
  // Parents before their sub-tasks, because the rows refer to each other.
  const sorted = tasks.toSorted((a, b) => depthOf(a.row) - depthOf(b.row));
  for (const { row } of sorted) await insertTask(tx, row);
  for (const { row, blockedBy } of sorted) {
    const known: string[] = [];
    for (const id of blockedBy) if (await isIdTaken(tx, id)) known.push(id);
    await insertBlockers(tx, row.id, known);
  }
  await rebuildChains(tx);
  const touched = new Set<string>();
  for (const { row } of sorted) {
    for (const id of await withParents(tx, row.id)) touched.add(id);
    await appendEvent(tx, sources, {
      type: 'task.created',
      taskId: row.id,
      epicId: row.epic_id,
      data: { title: row.title, status: row.status, parent: row.parent_id },
    });
  }
  await refreshReadiness(tx, sources, touched);
}

async function insertTask(tx: Tx, row: TaskRow): Promise<void> {
  const { parent_id: parent, epic_id: epic } = row;
  if (parent !== null && !(await isIdTaken(tx, parent)))
    throw new Refusal('bad_state', `${parent}, which ${row.id} was part of, does not exist.`);
  const epicId = epic !== null && (await isIdTaken(tx, epic)) ? epic : null;
  await tx
    .insertInto('tasks')
    .values({ ...row, epic_id: epicId })
    .execute();
}

/** An id has one number at its end for each level of sub-tasks. */
function depthOf({ id }: TaskRow): number {
  return id.split('.').length;
}

const batchesMax = 100;

/** The removals made by this process, latest last. */
export class Removals {
  readonly #batches: Removed[] = [];

  keep(removed: Removed): void {
    this.#batches.push(removed);
    if (this.#batches.length > batchesMax) this.#batches.shift();
  }

  /** The rows that were removed under these ids. Refused if they are not remembered. */
  find(ids: readonly string[]): Removed {
    const batch = { epics: new Map<string, EpicRow>(), tasks: new Map<string, RemovedTask>() };
    for (const { epics, tasks } of this.#batches) {
      for (const row of epics) if (ids.includes(row.id)) batch.epics.set(row.id, row);
      for (const task of tasks) if (ids.includes(task.row.id)) batch.tasks.set(task.row.id, task);
    }
    const missing = ids.find((id) => !batch.epics.has(id) && !batch.tasks.has(id));
    if (missing !== undefined || ids.length === 0)
      throw new Refusal(
        'unknown_id',
        `The removal of ${missing ?? 'nothing'} can no longer be undone.`,
      );
    return { epics: [...batch.epics.values()], tasks: [...batch.tasks.values()] };
  }
}
