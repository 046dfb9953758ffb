// The displayed dependency graph: its tasks and edges, the critical path, and the related tasks of
// a task.

import { taskAbove } from '../../server/protocol/candidates.ts';
import { criticalPath } from '../../server/core/plan/graph.ts';
import { askingTasks } from '../../server/protocol/needs.ts';
import type { StatusSnapshot, TaskView } from '../../server/protocol/views.ts';
import { graphNodes } from '../shared/plan/places.ts';

export interface GraphScope {
  readonly epic: string | null;
  readonly hidesCompleted: boolean;
}

export interface ShownEdge {
  readonly blocker: string;
  readonly dependent: string;
  readonly isCritical: boolean;
  /** False if a sub-task causes it, so that it cannot be removed between these two tasks. */
  readonly isDirect: boolean;
}

export interface ShownGraph {
  readonly tasks: ReadonlyMap<string, TaskView>;
  readonly edges: readonly ShownEdge[];
  readonly blockers: ReadonlyMap<string, readonly string[]>;
  readonly dependents: ReadonlyMap<string, readonly string[]>;
  /** Ids of the longest unfinished chain, starting with the first blocker. */
  readonly critical: readonly string[];
  /** Tasks outside the scope that block a task in it. */
  readonly outside: ReadonlySet<string>;
  /** Tasks whose agent has asked a question and waits for the answer. */
  readonly asking: ReadonlySet<string>;
  readonly completedHidden: number;
  /** Number of tasks that were left out because there are too many. */
  readonly leftOut: number;
}

export const shownTasksMax = 1_000;

export function buildGraph(
  board: StatusSnapshot,
  { epic, hidesCompleted }: GraphScope,
  tasksMax = shownTasksMax,
): ShownGraph {
  const byId = new Map(board.tasks.map((task) => [task.id, task]));
  const tops = topsOf(board.tasks, byId);
  const pairs = pairsOf(board.tasks, tops);
  const mine = board.tasks.filter(
    (task) => taskAbove(task) === null && (epic === null || task.epic_id === epic),
  );
  const wanted = hidesCompleted ? mine.filter(({ status }) => status !== 'completed') : mine;
  const kept = wanted.slice(0, tasksMax);
  const tasks = new Map(kept.map((task) => [task.id, task]));
  const outside = new Set<string>();
  for (const { blocker, dependent } of pairs) {
    const task = byId.get(blocker);
    const isHere = tasks.has(dependent) && !outside.has(dependent);
    if (epic === null || task === undefined || tasks.has(blocker) || !isHere) continue;
    if (task.epic_id === epic || task.status === 'completed') continue;
    outside.add(blocker);
    tasks.set(blocker, task);
  }
  const open = board.tasks.filter(({ status }) => status !== 'completed' && status !== 'cancelled');
  const isMine = new Set(mine.map(({ id }) => id));
  const weighed = epic === null ? open : open.filter(({ id }) => isMine.has(tops.get(id) ?? id));
  const path = criticalPath(graphNodes(weighed), (id) =>
    byId.get(id)?.parent_id === null ? 1 : 0,
  );
  const critical = path.ids.length > 1 ? path.ids : [];
  const steps = new Set(critical.slice(1).map((id, index) => edgeKey(critical[index] ?? '', id)));
  const edges = pairs
    .filter(({ blocker, dependent }) => tasks.has(blocker) && tasks.has(dependent))
    .map((pair) => ({ ...pair, isCritical: steps.has(edgeKey(pair.blocker, pair.dependent)) }));
  return {
    tasks,
    edges,
    blockers: grouped(edges, 'dependent', 'blocker'),
    dependents: grouped(edges, 'blocker', 'dependent'),
    critical,
    outside,
    asking: askingTasks(board),
    completedHidden: mine.length - wanted.length,
    leftOut: wanted.length - kept.length,
  };
}

export function edgeKey(blocker: string, dependent: string): string {
  return JSON.stringify([blocker, dependent]);
}

/** All tasks that can be reached in one direction from a task, excluding the task. */
export function reachable(
  id: string,
  next: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const found = new Set<string>();
  const queue = [id];
  for (let head = 0; head < queue.length; head++) {
    for (const other of next.get(queue[head] ?? '') ?? []) {
      if (other === id || found.has(other)) continue;
      found.add(other);
      queue.push(other);
    }
  }
  return found;
}

type Pair = Omit<ShownEdge, 'isCritical'>;

/** Dependencies between top-level tasks, including those of their sub-tasks. */
function pairsOf(tasks: readonly TaskView[], tops: ReadonlyMap<string, string>): readonly Pair[] {
  const pairs = new Map<string, Pair>();
  for (const task of tasks) {
    const dependent = tops.get(task.id) ?? task.id;
    for (const id of task.blocked_by) {
      const blocker = tops.get(id);
      if (blocker === undefined || blocker === dependent) continue;
      const key = edgeKey(blocker, dependent);
      const isDirect = task.id === dependent && id === blocker;
      if (isDirect || !pairs.has(key)) pairs.set(key, { blocker, dependent, isDirect });
    }
  }
  return [...pairs.values()];
}

const levelsMax = 100;

function topsOf(
  tasks: readonly TaskView[],
  byId: ReadonlyMap<string, TaskView>,
): ReadonlyMap<string, string> {
  const tops = new Map<string, string>();
  for (const task of tasks) {
    let at = task;
    for (let level = 0; level < levelsMax && at.parent_id !== null; level++) {
      at = byId.get(at.parent_id) ?? { ...at, parent_id: null };
    }
    tops.set(task.id, at.id);
  }
  return tops;
}

function grouped(
  edges: readonly ShownEdge[],
  by: 'blocker' | 'dependent',
  value: 'blocker' | 'dependent',
): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const edge of edges) {
    const group = groups.get(edge[by]);
    if (group === undefined) groups.set(edge[by], [edge[value]]);
    else group.push(edge[value]);
  }
  return groups;
}
