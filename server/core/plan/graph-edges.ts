// Builds the edges of the task graph, by node number. An edge means "waits for".

export interface GraphNode {
  readonly id: string;
  readonly blockedBy: readonly string[];
  readonly parentId: string | null;
  /** Position among the parent's sub-tasks. */
  readonly sequence: number;
}

/** Identifies nodes by number, because numbers are faster keys than strings. */
export interface EdgeList {
  readonly ids: readonly string[];
  readonly numbers: ReadonlyMap<string, number>;
  /** For each node, the nodes that it waits for. */
  readonly waitsFor: readonly (readonly number[])[];
}

/** Sub-tasks of each parent, ordered by sequence and then by id. */
export function childrenByParent(nodes: readonly GraphNode[]): Map<string, GraphNode[]> {
  const children = new Map<string, GraphNode[]>();
  for (const node of nodes) {
    if (node.parentId === null) continue;
    const list = children.get(node.parentId);
    if (list === undefined) children.set(node.parentId, [node]);
    else list.push(node);
  }
  for (const list of children.values()) {
    list.sort((a, b) => a.sequence - b.sequence || compareTexts(a.id, b.id));
  }
  return children;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function numberNodes(nodes: readonly GraphNode[]): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const [index, node] of nodes.entries()) numbers.set(node.id, index);
  return numbers;
}

/**
 * Returns all edges that the rules imply: from `blocked_by`, from a parent to its sub-tasks, and
 * from a sub-task to the previous one.
 */
export function ruleEdges(nodes: readonly GraphNode[]): EdgeList {
  const numbers = numberNodes(nodes);
  const waitsFor: number[][] = nodes.map((node) => knownNumbers(node.blockedBy, numbers));
  for (const [parentId, list] of childrenByParent(nodes)) {
    const parent = numbers.get(parentId);
    let before: number | undefined;
    for (const child of list) {
      const number = numbers.get(child.id);
      if (number === undefined) continue;
      if (parent !== undefined) waitsFor[parent]?.push(number);
      if (before !== undefined) waitsFor[number]?.push(before);
      before = number;
    }
  }
  return { ids: nodes.map((node) => node.id), numbers, waitsFor };
}

/**
 * The graph used for scheduling. It has only top-level tasks, which inherit the blockers of their
 * sub-tasks. A loop here is a deadlock even if the rule edges have none: if A.2 waits for B.1 and
 * B.2 for A.1, neither A nor B can run as a whole.
 */
export function topLevelEdges(nodes: readonly GraphNode[]): EdgeList {
  const numbers = numberNodes(nodes);
  const tops = topLevelNumbers(nodes, numbers);
  const waitsFor: number[][] = nodes.map(() => []);
  for (const [index, node] of nodes.entries()) {
    const top = tops[index] ?? index;
    for (const blocker of knownNumbers(node.blockedBy, numbers)) {
      const blockerTop = tops[blocker] ?? blocker;
      if (blockerTop !== top) waitsFor[top]?.push(blockerTop);
    }
  }
  return { ids: nodes.map((node) => node.id), numbers, waitsFor };
}

function knownNumbers(ids: readonly string[], numbers: ReadonlyMap<string, number>): number[] {
  const known: number[] = [];
  for (const id of ids) {
    const number = numbers.get(id);
    if (number !== undefined) known.push(number);
  }
  return known;
}

/** For each node, the number of the top-level task that it is scheduled with. */
export function topLevelNumbers(
  nodes: readonly GraphNode[],
  numbers: ReadonlyMap<string, number>,
): readonly number[] {
  const tops: number[] = nodes.map(() => -1);
  for (let index = 0; index < nodes.length; index++) {
    const path: number[] = [];
    const onPath = new Set<number>();
    let at = index;
    for (;;) {
      const known = tops[at] ?? -1;
      if (known !== -1) {
        at = known;
        break;
      }
      path.push(at);
      onPath.add(at);
      const parentId = nodes[at]?.parentId ?? null;
      const parent = parentId === null ? undefined : numbers.get(parentId);
      // Loops of parents are reported elsewhere. This only prevents an endless loop here.
      if (parent === undefined || onPath.has(parent)) break;
      at = parent;
    }
    for (const number of path) tops[number] = at;
  }
  return tops;
}
