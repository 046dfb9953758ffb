// The task graph: loops, chains and the order of sub-tasks. An edge means "waits for". The
// functions do not recurse, so a chain of 100,000 tasks is not a problem. They run in linear time
// except for sorting siblings.

import {
  childrenByParent,
  ruleEdges,
  topLevelEdges,
  topLevelNumbers,
  type EdgeList,
  type GraphNode,
} from './graph-edges.ts';

/** Finds a loop. Returns A, B, A for "A waits for B waits for A", or null. */
export function findCycle(nodes: readonly GraphNode[]): readonly string[] | null {
  return cycleIn(ruleEdges(nodes)) ?? cycleIn(topLevelEdges(nodes));
}

function cycleIn(edges: EdgeList): readonly string[] | null {
  const { waitsFor, ids } = edges;
  const done = new Uint8Array(ids.length);
  const onPath = new Uint8Array(ids.length);
  const next = new Uint32Array(ids.length);
  for (let start = 0; start < ids.length; start++) {
    if (done[start] === 1) continue;
    const path = [start];
    onPath[start] = 1;
    while (path.length > 0) {
      const at = path[path.length - 1] ?? 0;
      const position = next[at] ?? 0;
      const target = waitsFor[at]?.[position];
      if (target === undefined) {
        done[at] = 1;
        onPath[at] = 0;
        path.pop();
        continue;
      }
      next[at] = position + 1;
      if (onPath[target] === 1) return namesOf([...path.slice(path.indexOf(target)), target], ids);
      if (done[target] === 1) continue;
      onPath[target] = 1;
      path.push(target);
    }
  }
  return null;
}

function namesOf(numbers: readonly number[], ids: readonly string[]): readonly string[] {
  return numbers.map((number) => ids[number] ?? '');
}

/**
 * The loop that a new `blocked_by` edge would close, from the task back to itself. Returns null if
 * the edge may be added.
 */
export function cycleIfAdded(
  nodes: readonly GraphNode[],
  taskId: string,
  blockerId: string,
): readonly string[] | null {
  if (taskId === blockerId) return [taskId, taskId];
  const path = shortestPath(ruleEdges(nodes), blockerId, taskId);
  if (path !== null) return [taskId, ...path];
  const top = topLevelEdges(nodes);
  const tops = topLevelNumbers(nodes, top.numbers);
  const topOf = (id: string): string => top.ids[tops[top.numbers.get(id) ?? -1] ?? -1] ?? id;
  const [from, to] = [topOf(blockerId), topOf(taskId)];
  if (from === to) return null;
  const topPath = shortestPath(top, from, to);
  return topPath === null ? null : [to, ...topPath];
}

/** The shortest path of "waits for" edges between two nodes, including both. */
export function shortestPath(edges: EdgeList, from: string, to: string): readonly string[] | null {
  const start = edges.numbers.get(from);
  const goal = edges.numbers.get(to);
  if (start === undefined || goal === undefined) return null;
  const cameFrom = new Map<number, number>([[start, -1]]);
  const queue = [start];
  for (let head = 0; head < queue.length; head++) {
    const at = queue[head] ?? 0;
    if (at === goal) break;
    for (const target of edges.waitsFor[at] ?? []) {
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, at);
      queue.push(target);
    }
  }
  if (!cameFrom.has(goal)) return null;
  const path: number[] = [];
  for (let at = goal; at !== -1; at = cameFrom.get(at) ?? -1) path.push(at);
  return namesOf(path.toReversed(), edges.ids);
}

/** Formats a loop for people. */
export function cycleText(cycle: readonly string[]): string {
  if (cycle.length <= 12) return cycle.join(' → ');
  const left = cycle.length - 10;
  return [...cycle.slice(0, 6), `… ${left} more …`, ...cycle.slice(-4)].join(' → ');
}

/** Returns sub-tasks by sequence, with deeper levels first, then the task itself. */
export function executionOrder(parentId: string, nodes: readonly GraphNode[]): readonly string[] {
  const children = childrenByParent(nodes);
  const seen = new Set<string>([parentId]);
  const order: string[] = [];
  const stack = [{ id: parentId, next: 0 }];
  while (stack.length > 0) {
    const top = stack[stack.length - 1];
    if (top === undefined) break;
    const child = children.get(top.id)?.[top.next];
    top.next += 1;
    if (child === undefined) {
      order.push(top.id);
      stack.pop();
    } else if (!seen.has(child.id)) {
      seen.add(child.id);
      stack.push({ id: child.id, next: 0 });
    }
  }
  return order;
}

/** Orders blockers before their dependents. Omits members of loops. */
function blockersFirst(edges: EdgeList): { order: number[]; dependents: number[][] } {
  const count = edges.ids.length;
  const open = new Uint32Array(count);
  const dependents: number[][] = Array.from({ length: count }, () => []);
  for (let number = 0; number < count; number++) {
    for (const blocker of edges.waitsFor[number] ?? []) {
      open[number] = (open[number] ?? 0) + 1;
      dependents[blocker]?.push(number);
    }
  }
  const order: number[] = [];
  for (let number = 0; number < count; number++) if (open[number] === 0) order.push(number);
  for (let head = 0; head < order.length; head++) {
    for (const dependent of dependents[order[head] ?? 0] ?? []) {
      open[dependent] = (open[dependent] ?? 1) - 1;
      if (open[dependent] === 0) order.push(dependent);
    }
  }
  return { order, dependents };
}

/**
 * The length of the longest chain of dependents that starts at each task, including the task. A
 * sub-task has its top-level task's value.
 */
export function criticalPathLengths(nodes: readonly GraphNode[]): Map<string, number> {
  const edges = topLevelEdges(nodes);
  const tops = topLevelNumbers(nodes, edges.numbers);
  const { order, dependents } = blockersFirst(edges);
  const lengths = new Uint32Array(nodes.length).fill(1);
  for (const number of order.toReversed()) {
    let longest = 0;
    for (const dependent of dependents[number] ?? []) {
      longest = Math.max(longest, lengths[dependent] ?? 1);
    }
    lengths[number] = longest + 1;
  }
  const result = new Map<string, number>();
  for (const [index, node] of nodes.entries()) {
    result.set(node.id, lengths[tops[index] ?? index] ?? 1);
  }
  return result;
}

export interface WeightedPath {
  readonly weight: number;
  /** Top-level tasks of the path, starting with the first blocker. */
  readonly ids: readonly string[];
}

/** The heaviest chain of top-level tasks. A sub-task adds its weight to its top-level task. */
export function criticalPath(
  nodes: readonly GraphNode[],
  weight: (id: string) => number,
): WeightedPath {
  const edges = topLevelEdges(nodes);
  const tops = topLevelNumbers(nodes, edges.numbers);
  const own = new Float64Array(nodes.length);
  for (const [index, node] of nodes.entries()) {
    const top = tops[index] ?? index;
    own[top] = (own[top] ?? 0) + weight(node.id);
  }
  const { order } = blockersFirst(edges);
  const total = new Float64Array(nodes.length);
  const cameFrom = new Int32Array(nodes.length).fill(-1);
  let last = -1;
  for (const number of order) {
    if (tops[number] !== number) continue;
    let before = 0;
    for (const blocker of edges.waitsFor[number] ?? []) {
      if ((total[blocker] ?? 0) <= before && cameFrom[number] !== -1) continue;
      before = total[blocker] ?? 0;
      cameFrom[number] = blocker;
    }
    total[number] = before + (own[number] ?? 0);
    if (last === -1 || (total[number] ?? 0) > (total[last] ?? 0)) last = number;
  }
  const ids: string[] = [];
  for (let at = last; at !== -1; at = cameFrom[at] ?? -1) ids.push(edges.ids[at] ?? '');
  return { weight: last === -1 ? 0 : (total[last] ?? 0), ids: ids.toReversed() };
}

/**
 * The number of each node's strongly connected component. Two nodes with the same number are in a
 * loop.
 */
export function loopGroups(edges: EdgeList): Int32Array {
  const count = edges.ids.length;
  const group = new Int32Array(count).fill(-1);
  const found = new Int32Array(count).fill(-1);
  const lowest = new Int32Array(count);
  const next = new Uint32Array(count);
  const open: number[] = [];
  let time = 0;
  let groups = 0;
  for (let start = 0; start < count; start++) {
    if (found[start] !== -1) continue;
    const path = [start];
    while (path.length > 0) {
      const at = path[path.length - 1] ?? 0;
      if (found[at] === -1) {
        found[at] = lowest[at] = time++;
        open.push(at);
      }
      const target = edges.waitsFor[at]?.[next[at] ?? 0];
      if (target !== undefined) {
        next[at] = (next[at] ?? 0) + 1;
        if (found[target] === -1) path.push(target);
        else if (group[target] === -1) lowest[at] = Math.min(lowest[at] ?? 0, found[target] ?? 0);
        continue;
      }
      path.pop();
      const before = path[path.length - 1];
      if (before !== undefined) lowest[before] = Math.min(lowest[before] ?? 0, lowest[at] ?? 0);
      if (lowest[at] !== found[at]) continue;
      let member: number | undefined;
      do {
        member = open.pop();
        if (member !== undefined) group[member] = groups;
      } while (member !== undefined && member !== at);
      groups += 1;
    }
  }
  return group;
}
