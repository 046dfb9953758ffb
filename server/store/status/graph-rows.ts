// The task graph in the database, and the facts derived from its edges: loops and chains.

import { Refusal } from '../../core/failure.ts';
import { criticalPathLengths, cycleIfAdded, cycleText, findCycle } from '../../core/plan/graph.ts';
import { inParts, type Db } from '../rows/one-moment.ts';
import type { DependencyTable, Tx } from '../schema/tables.ts';
import { rootTaskId } from './transition.ts';
import type { GraphNode } from '../../core/plan/graph-edges.ts';

/** In primary key order, which SQLite maintains anyway. */
export async function allEdges(db: Db): Promise<readonly DependencyTable[]> {
  return db
    .selectFrom('task_dependencies')
    .selectAll()
    .orderBy('task_id')
    .orderBy('blocked_by')
    .execute();
}

/** The blockers of each of these tasks. */
export async function readEdges(
  db: Db,
  ids: readonly string[],
): Promise<readonly DependencyTable[]> {
  return db
    .selectFrom('task_dependencies')
    .selectAll()
    .where('task_id', 'in', [...ids])
    .orderBy('blocked_by')
    .execute();
}

/** All tasks with their edges, in order of creation. */
export async function readGraph(db: Db): Promise<GraphNode[]> {
  const blockers = new Map<string, string[]>();
  const edges = await allEdges(db);
  for (const { task_id: id, blocked_by: blocker } of edges) {
    const list = blockers.get(id);
    if (list === undefined) blockers.set(id, [blocker]);
    else list.push(blocker);
  }
  const rows = await db
    .selectFrom('tasks')
    .select(['id', 'parent_id', 'sequence_number'])
    .orderBy('position')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    blockedBy: blockers.get(row.id) ?? [],
    parentId: row.parent_id,
    sequence: row.sequence_number,
  }));
}

/**
 * Refuses edges of the task (already written) that close a loop. A loop that existed before,
 * imported from another tool, is not its fault, and must not keep users from removing it.
 */
export async function refuseLoops(
  tx: Tx,
  taskId: string,
  before: readonly GraphNode[] | null,
): Promise<readonly GraphNode[]> {
  const nodes = await readGraph(tx);
  const loop = findCycle(nodes);
  if (loop === null) return nodes;
  const old = before ?? nodes.filter((node) => node.id !== taskId);
  if (findCycle(old) === null) throw loopRefusal(taskId, loop);
  const own = nodes.find((node) => node.id === taskId);
  const without = nodes.map((node) => (node.id === taskId ? { ...node, blockedBy: [] } : node));
  for (const blocker of own?.blockedBy ?? []) {
    const closed = cycleIfAdded(without, taskId, blocker);
    if (closed !== null) throw loopRefusal(taskId, closed);
  }
  return nodes;
}

function loopRefusal(taskId: string, loop: readonly string[]): Refusal {
  const who = loop.includes(taskId)
    ? `${taskId} would wait for itself`
    : 'Tasks would wait for each other';
  return new Refusal('cycle', `${who}: ${cycleText(loop)}; leave one of these blockers out.`);
}

/** Recomputes the chains of all tasks in linear time, for changes that can shorten chains. */
export async function rebuildChains(tx: Tx, known?: readonly GraphNode[]): Promise<void> {
  const lengths = criticalPathLengths(known ?? (await readGraph(tx)));
  const rows = await tx.selectFrom('tasks').select(['id', 'chain']).execute();
  for (const row of rows) {
    const chain = lengths.get(row.id) ?? 1;
    if (chain === row.chain) continue;
    await tx.updateTable('tasks').set({ chain }).where('id', '=', row.id).execute();
  }
}

/** If more tasks must be raised for one new edge, recomputing all chains is cheaper. */
const raisesMax = 200;
const levelsMax = 40;

/**
 * Raises the chains from a new task's blockers upwards. Nothing waits for a new task, so chains can
 * only get longer.
 */
export async function raiseChains(tx: Tx, taskId: string): Promise<void> {
  let level = [taskId];
  let length = 1;
  let raises = 0;
  while (level.length > 0) {
    const roots = await blockerRoots(tx, level);
    length += 1;
    const shorter = await tasksWithShorterChain(tx, roots, length);
    raises += shorter.length;
    if (raises > raisesMax || length > levelsMax) {
      await rebuildChains(tx);
      return;
    }
    for (const part of inParts(shorter)) {
      await tx.updateTable('tasks').set({ chain: length }).where('id', 'in', part).execute();
    }
    level = shorter;
  }
}

async function tasksWithShorterChain(
  tx: Tx,
  roots: readonly string[],
  length: number,
): Promise<string[]> {
  const found: string[] = [];
  for (const part of inParts(roots)) {
    const rows = await tx
      .selectFrom('tasks')
      .select('id')
      .where('id', 'in', part)
      .where('chain', '<', length)
      .execute();
    for (const row of rows) found.push(row.id);
  }
  return found;
}

/** The top-level tasks that block the given ones, with their sub-tasks. */
async function blockerRoots(tx: Tx, taskIds: readonly string[]): Promise<string[]> {
  const roots = new Set<string>();
  for (const part of inParts(await withSubTasks(tx, taskIds))) {
    const rows = await tx
      .selectFrom('task_dependencies as d')
      .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
      .select(['b.id', 'b.parent_id'])
      .where('d.task_id', 'in', part)
      .execute();
    for (const row of rows) {
      roots.add(row.parent_id === null ? row.id : await rootTaskId(tx, row.id));
    }
  }
  for (const id of taskIds) roots.delete(id);
  return [...roots];
}

async function withSubTasks(tx: Tx, taskIds: readonly string[]): Promise<string[]> {
  const all = [...taskIds];
  let level: readonly string[] = taskIds;
  for (let depth = 0; depth < 3 && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const part of inParts(level)) {
      const rows = await tx
        .selectFrom('tasks')
        .select('id')
        .where('parent_id', 'in', part)
        .execute();
      for (const row of rows) next.push(row.id);
    }
    all.push(...next);
    level = next;
  }
  return all;
}
