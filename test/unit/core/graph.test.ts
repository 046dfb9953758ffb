import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  criticalPath,
  criticalPathLengths,
  cycleIfAdded,
  cycleText,
  executionOrder,
  findCycle,
} from '../../../server/core/plan/graph.ts';
import type { GraphNode } from '../../../server/core/plan/graph-edges.ts';

/** `A<B,C` = A is blocked by B and C; `A.1` is sub-task 1 of A. */
function graph(text: string): GraphNode[] {
  return text
    .split(' ')
    .filter((part) => part !== '')
    .map((part) => {
      const [id = '', blockers = ''] = part.split('<');
      const dot = id.lastIndexOf('.');
      return {
        id,
        blockedBy: blockers === '' ? [] : blockers.split(','),
        parentId: dot === -1 ? null : id.slice(0, dot),
        sequence: dot === -1 ? 0 : Number(id.slice(dot + 1)),
      };
    });
}

/** Random graphs of tasks, some with sub-tasks, and edges in any direction. */
const randomGraph = fc
  .record({
    tops: fc.integer({ min: 1, max: 6 }),
    subs: fc.array(fc.nat(5), { maxLength: 6 }),
    edges: fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 12 }),
  })
  .map(({ tops, subs, edges }): GraphNode[] => {
    const ids = Array.from({ length: tops }, (_, index) => `T${index}`);
    const parents = new Map<string, { parentId: string; sequence: number }>();
    for (const [index, sub] of subs.entries()) {
      const parentId = `T${sub % tops}`;
      ids.push(`S${index}`);
      parents.set(`S${index}`, { parentId, sequence: index + 1 });
    }
    return ids.map((id, index) => ({
      id,
      blockedBy: edges.flatMap(([from, to]) =>
        from % ids.length === index ? [ids[to % ids.length] ?? ''] : [],
      ),
      parentId: parents.get(id)?.parentId ?? null,
      sequence: parents.get(id)?.sequence ?? 0,
    }));
  });

/** Tries to finish everything by the rules, in the slow and obvious way. */
function canFinish(nodes: readonly GraphNode[]): boolean {
  const topOf = (id: string): string => nodes.find((node) => node.id === id)?.parentId ?? id;
  const landed = new Set<string>();
  for (let progress = true; progress;) {
    progress = false;
    for (const node of nodes) {
      if (node.parentId !== null || landed.has(node.id)) continue;
      const order = executionOrder(node.id, nodes);
      const fine = order.every((id, index) => {
        const blockers = nodes.find((part) => part.id === id)?.blockedBy ?? [];
        return blockers.every((blocker) =>
          topOf(blocker) === node.id
            ? order.slice(0, index).includes(blocker)
            : landed.has(topOf(blocker)),
        );
      });
      if (fine) {
        landed.add(node.id);
        progress = true;
      }
    }
  }
  return nodes.every((node) => node.parentId !== null || landed.has(node.id));
}

suite('graph', () => {
  test('loops are found and named', () => {
    const cases: readonly [string, string | null][] = [
      ['', null],
      ['A', null],
      ['A<A', 'A → A'],
      ['A<B B<A', 'A → B → A'],
      ['A<B B<C C<A', 'A → B → C → A'],
      ['A B<A C<A D<B,C', null],
      ['A<X', null],
      ['A A.1<A', 'A → A.1 → A'],
      ['A A.1 A.2<A.1', null],
      ['A A.1<A.2 A.2', 'A.1 → A.2 → A.1'],
      ['A A.1 A.1.1<A', 'A → A.1 → A.1.1 → A'],
      ['A A.1<B B<A', 'A → A.1 → B → A'],
      ['A A.1 A.2<B.1 B B.1 B.2<A.1', 'A → B → A'],
    ];
    for (const [text, wanted] of cases) {
      const cycle = findCycle(graph(text));
      assert.equal(cycle === null ? null : cycleText(cycle), wanted, text);
    }
  });

  test('a loop is found before it is created', () => {
    const cases: readonly [string, string, string, string | null][] = [
      ['A B', 'A', 'B', null],
      ['A B<A', 'A', 'B', 'A → B → A'],
      ['A B<A C<B', 'A', 'C', 'A → C → B → A'],
      ['A', 'A', 'A', 'A → A'],
      ['A A.1', 'A.1', 'A', 'A.1 → A → A.1'],
      ['A A.1', 'A', 'A.1', null],
      ['A A.1 A.2', 'A.1', 'A.2', 'A.1 → A.2 → A.1'],
      ['A A.1 A.2<B.1 B B.1 B.2', 'B.2', 'A.1', 'B → A → B'],
      ['A', 'A', 'nobody', null],
    ];
    for (const [text, task, blocker, wanted] of cases) {
      const cycle = cycleIfAdded(graph(text), task, blocker);
      assert.equal(cycle === null ? null : cycleText(cycle), wanted, `${text}: ${task}<${blocker}`);
    }
  });

  test('a graph without a loop can be completed, and one with a loop cannot', () => {
    fc.assert(
      fc.property(randomGraph, (nodes) => {
        assert.equal(findCycle(nodes) === null, canFinish(nodes));
      }),
      { numRuns: 2_000 },
    );
  });

  test('adding an edge closes a loop if and only if the resulting graph has one', () => {
    fc.assert(
      fc.property(randomGraph, fc.nat(11), fc.nat(11), (nodes, from, to) => {
        fc.pre(findCycle(nodes) === null);
        const task = nodes[from % nodes.length]?.id ?? '';
        const blocker = nodes[to % nodes.length]?.id ?? '';
        const after = nodes.map((node) =>
          node.id === task ? { ...node, blockedBy: [...node.blockedBy, blocker] } : node,
        );
        const cycle = cycleIfAdded(nodes, task, blocker);
        assert.equal(cycle === null, findCycle(after) === null);
        if (cycle !== null) assert.equal(cycle.at(0), cycle.at(-1));
      }),
      { numRuns: 2_000 },
    );
  });

  test('chains and the execution order are computed', () => {
    const diamond = graph('A B<A C<A D<B,C E<D F');
    assert.deepEqual(Object.fromEntries(criticalPathLengths(diamond)), {
      A: 4,
      B: 3,
      C: 3,
      D: 2,
      E: 1,
      F: 1,
    });
    // A sub-task waits for X, so its parent does too, and its path is as long as its parent's.
    assert.deepEqual(Object.fromEntries(criticalPathLengths(graph('X A A.1<X B<A.1'))), {
      X: 3,
      A: 2,
      'A.1': 2,
      B: 1,
    });
    const tree = graph('A A.2 A.1 A.1.2 A.1.1 B A.10');
    assert.deepEqual(executionOrder('A', tree), ['A.1.1', 'A.1.2', 'A.1', 'A.2', 'A.10', 'A']);
    assert.deepEqual(executionOrder('B', tree), ['B']);
  });

  test('the heaviest chain is found', () => {
    const weights: Record<string, number> = { A: 1, B: 5, C: 2, D: 1, 'C.1': 4 };
    const weight = (id: string): number => weights[id] ?? 0;
    const cases: readonly [string, number, string][] = [
      ['', 0, ''],
      ['A', 1, 'A'],
      ['A B<A C<A D<B,C', 7, 'A B D'],
      ['A B<A C<A C.1 D<B,C', 8, 'A C D'],
      ['A B', 5, 'B'],
    ];
    for (const [text, total, ids] of cases) {
      assert.deepEqual(
        criticalPath(graph(text), weight),
        { weight: total, ids: ids.split(' ').filter(Boolean) },
        text,
      );
    }
  });

  test('each chain is one longer than the longest chain of its dependents', () => {
    fc.assert(
      fc.property(randomGraph, (nodes) => {
        fc.pre(findCycle(nodes) === null);
        const lengths = criticalPathLengths(nodes);
        const topOf = (id: string): string => nodes.find((node) => node.id === id)?.parentId ?? id;
        for (const { id } of nodes.filter((node) => node.parentId === null)) {
          const dependents = nodes.filter((node) =>
            node.blockedBy.some((blocker) => topOf(blocker) === id && topOf(node.id) !== id),
          );
          const longest = Math.max(
            0,
            ...dependents.map((node) => lengths.get(topOf(node.id)) ?? 0),
          );
          assert.equal(lengths.get(id), longest + 1);
        }
        assert.equal(criticalPath(nodes, () => 0).weight, 0);
      }),
    );
  });

  test('a hundred thousand tasks in one chain and in one loop are handled', () => {
    const count = 100_000;
    const chain = Array.from({ length: count }, (_, index): GraphNode => {
      const blockedBy = index === 0 ? [] : [`T${index - 1}`];
      return { id: `T${index}`, blockedBy, parentId: null, sequence: 0 };
    });
    assert.equal(findCycle(chain), null);
    assert.equal(criticalPathLengths(chain).get('T0'), count);
    assert.equal(criticalPath(chain, () => 1).ids.length, count);
    assert.equal(cycleIfAdded(chain, 'T0', `T${count - 1}`)?.length, count + 1);
    const deep = chain.map((node, index): GraphNode => {
      return { ...node, blockedBy: [], parentId: index === 0 ? null : `T${index - 1}` };
    });
    assert.equal(executionOrder('T0', deep).at(-1), 'T0');
    assert.equal(findCycle(deep), null);
    assert.match(cycleText(chain.map(({ id }) => id)), /^T0 → .* … 99990 more … .* → T99999$/);
  });
});
