// All tasks at one moment with what they wait for, read with a handful of queries however many there are.

import type { Db } from './read.ts';
import type { AttemptRow, TaskRow } from './tables.ts';

export type RunningAttempt = Pick<AttemptRow, 'task_id' | 'number' | 'agent' | 'started_at_ms'>;

export interface Board {
  /** In the order of creation. */
  readonly tasks: readonly TaskRow[];
  readonly byId: ReadonlyMap<string, TaskRow>;
  readonly blockedBy: ReadonlyMap<string, readonly string[]>;
  /** Blockers of the task and of what is below it that are not completed; none of its own family. */
  readonly waitsFor: ReadonlyMap<string, readonly string[]>;
  readonly running: ReadonlyMap<string, RunningAttempt>;
}

export const nothing: readonly string[] = Object.freeze([]);

export async function readBoard(db: Db): Promise<Board> {
  const tasks = await db.selectFrom('tasks').selectAll().orderBy('position').execute();
  const edges = await db.selectFrom('task_dependencies').selectAll().execute();
  const running = await db
    .selectFrom('attempts')
    .select(['task_id', 'number', 'agent', 'started_at_ms'])
    .where('state', '=', 'running')
    .execute();
  const byId = new Map(tasks.map((row) => [row.id, row]));
  const blockedBy = new Map<string, string[]>();
  const waitsFor = new Map<string, string[]>();
  for (const { task_id: id, blocked_by: blocker } of edges) {
    append(blockedBy, id, blocker);
    if (byId.get(blocker)?.status === 'completed') continue;
    if (topOf(byId, id) === topOf(byId, blocker)) continue;
    for (const waiting of withAncestors(byId, id)) append(waitsFor, waiting, blocker);
  }
  return {
    tasks,
    byId,
    blockedBy,
    waitsFor,
    running: new Map(running.map((row) => [row.task_id, row])),
  };
}

function append(lists: Map<string, string[]>, id: string, item: string): void {
  const list = lists.get(id);
  if (list === undefined) lists.set(id, [item]);
  else if (!list.includes(item)) list.push(item);
}

const levelsMax = 4;

/** The task and the parents above it, itself first. */
export function withAncestors(byId: ReadonlyMap<string, TaskRow>, id: string): string[] {
  const ids = [id];
  let parent = byId.get(id)?.parent_id ?? null;
  while (parent !== null && ids.length < levelsMax) {
    ids.push(parent);
    parent = byId.get(parent)?.parent_id ?? null;
  }
  return ids;
}

/** The task that is scheduled for this one: itself, or the topmost parent of a sub-task. */
export function topOf(byId: ReadonlyMap<string, TaskRow>, id: string): string {
  return withAncestors(byId, id).at(-1) ?? id;
}
