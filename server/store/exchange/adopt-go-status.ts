// Converts states and chains of tasks from the Go tool, which has fewer states and of whose tasks
// none is running any more.

import { type Kysely, sql } from 'kysely';
import { criticalPathLengths } from '../../core/plan/graph.ts';
import type { GraphNode } from '../../core/plan/graph-edges.ts';

const keptStatuses = ['completed', 'failed', 'paused', 'cancelled'];
/** Tasks in these states become ready or blocked, depending on their blockers. */
const derivedStatuses = ['ready', 'blocked', 'claimed', 'in_progress', ''];

interface AdoptedTask {
  readonly id: string;
  readonly parent_id: string | null;
  readonly sequence_number: number;
  readonly status: string;
}

export async function settleAdopted<T>(db: Kysely<T>): Promise<void> {
  const { rows: tasks } = await sql<AdoptedTask>`
    select id, parent_id, sequence_number, status from tasks order by position`.execute(db);
  const { rows: edges } = await sql<{ task_id: string; blocked_by: string }>`
    select task_id, blocked_by from task_dependencies`.execute(db);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const blockers = new Map<string, string[]>();
  const waiting = new Set<string>();
  for (const { task_id: id, blocked_by: blocker } of edges) {
    const list = blockers.get(id);
    if (list === undefined) blockers.set(id, [blocker]);
    else list.push(blocker);
    if (byId.get(blocker)?.status === 'completed') continue;
    const line = lineOf(byId, id);
    if (lineOf(byId, blocker).at(-1) === line.at(-1)) continue;
    for (const held of line) waiting.add(held);
  }
  const chains = criticalPathLengths(
    tasks.map((task): GraphNode => ({
      id: task.id,
      blockedBy: blockers.get(task.id) ?? [],
      parentId: task.parent_id,
      sequence: task.sequence_number,
    })),
  );
  for (const task of tasks) {
    const status = statusOf(task, waiting);
    const chain = chains.get(task.id) ?? 1;
    const review = status === 'needs_review' ? `the state "${task.status}" is not known` : null;
    await sql`update tasks set status = ${status}, chain = ${chain},
      last_error = coalesce(${review}, last_error) where id = ${task.id}`.execute(db);
  }
}

/** The task and its ancestors. Stops at a loop of parents. */
function lineOf(byId: ReadonlyMap<string, AdoptedTask>, id: string): string[] {
  const line = [id];
  let parent = byId.get(id)?.parent_id ?? null;
  while (parent !== null && line.length < 4) {
    line.push(parent);
    parent = byId.get(parent)?.parent_id ?? null;
  }
  return line;
}

function statusOf(task: AdoptedTask, waiting: ReadonlySet<string>): string {
  if (keptStatuses.includes(task.status)) return task.status;
  if (!derivedStatuses.includes(task.status)) return 'needs_review';
  return waiting.has(task.id) ? 'blocked' : 'ready';
}
