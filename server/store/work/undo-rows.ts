// The rows for an undo: the tasks whose landed work it reverts, and their dependents.

import { allEdges } from '../status/graph-rows.ts';
import type { Db } from '../rows/one-moment.ts';
import type { TaskRow, Tx } from '../schema/tables.ts';

/** The epic's top-level tasks in plan order. */
export async function readRootTasks(db: Db, epicId: string): Promise<readonly TaskRow[]> {
  return await db
    .selectFrom('tasks')
    .selectAll()
    .where('epic_id', '=', epicId)
    .where('parent_id', 'is', null)
    .orderBy('position')
    .execute();
}

export interface Dependent {
  readonly id: string;
  readonly status: TaskRow['status'];
  /** The epic of its top-level task. */
  readonly epicId: string | null;
}

/** Tasks that wait for one of these, directly or indirectly, nearest first. Omits canceled ones. */
export async function readDependents(
  db: Db,
  ids: readonly string[],
): Promise<readonly Dependent[]> {
  const rows = await db
    .selectFrom('tasks')
    .select(['id', 'parent_id', 'status', 'epic_id'])
    .execute();
  const children = new Map<string, string[]>();
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const { id, parent_id: parent } of rows) {
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), id]);
  }
  const waiting = new Map<string, string[]>();
  for (const { task_id: id, blocked_by: blocker } of await allEdges(db)) {
    waiting.set(blocker, [...(waiting.get(blocker) ?? []), id]);
  }
  const seen = new Set(withDescendants(ids, children));
  const found: Dependent[] = [];
  for (let level = [...seen]; level.length > 0;) {
    const next = level.flatMap((id) => waiting.get(id) ?? []).filter((id) => !seen.has(id));
    level = [];
    for (const id of new Set(next)) {
      const row = byId.get(id);
      if (row === undefined || row.status === 'cancelled') continue;
      const epicId = byId.get(rootIn(id, byId))?.epic_id ?? null;
      found.push({ id, status: row.status, epicId });
      // A task is over only when its sub-tasks are, so its dependents wait for them too.
      for (const one of withDescendants([rootIn(id, byId)], children)) {
        if (!seen.has(one)) level.push(one);
        seen.add(one);
      }
    }
  }
  return found;
}

function withDescendants(
  ids: readonly string[],
  children: ReadonlyMap<string, readonly string[]>,
): string[] {
  return ids.flatMap((id) => [id, ...withDescendants(children.get(id) ?? [], children)]);
}

function rootIn(
  id: string,
  byId: ReadonlyMap<string, { readonly parent_id: string | null }>,
): string {
  const parent = byId.get(id)?.parent_id ?? null;
  return parent === null ? id : rootIn(parent, byId);
}

/** Reopens the epic, which waits for its work to land again. */
export async function reopenEpic(tx: Tx, id: string, note: string): Promise<void> {
  await tx
    .updateTable('epics')
    .set({
      status: 'open',
      landed_sha: null,
      landing_state: null,
      landing_note: note,
      approved_tree: null,
      review_tree: null,
    })
    .where('id', '=', id)
    .execute();
}
