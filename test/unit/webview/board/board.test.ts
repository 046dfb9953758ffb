// The pure parts of the board: columns, the visible graph, its layout, the visible part, keys and
// memory.

import assert from 'node:assert/strict';
import { readMemory } from '../../../../webview/board/board-memory.ts';
import {
  columnNames,
  groupByColumn,
  cardFacts,
  cardReason,
} from '../../../../webview/board/columns.ts';
import { graphKey } from '../../../../webview/board/graph-keys.ts';
import {
  layoutGraph,
  nodeHeightPx,
  nodeWidthPx,
  type GraphLayout,
} from '../../../../webview/board/graph-layout.ts';
import { buildGraph, reachable, shownTasksMax } from '../../../../webview/board/graph-model.ts';
import { fit, panBy, reveal, visibleBox, zoomAround } from '../../../../webview/board/viewport.ts';
import { boardOf, largeBoard, numbered, smallBoard } from '../../../webview/support/boards.ts';

suite('board: columns', () => {
  test('they contain every top-level task once', () => {
    const columns = groupByColumn(smallBoard(), null);
    const ids = columnNames.flatMap((name) => columns[name].map(({ task }) => task.id));
    assert.deepEqual(ids, ['check', 'icons', 'readme', 'print', 'serve', 'store', 'parse']);
    const ofServer = groupByColumn(smallBoard(), 'server');
    assert.deepEqual(
      columnNames.map((name) => ofServer[name].length),
      [0, 0, 0, 2, 0],
    );
  });

  test('a card shows the state of its task', () => {
    const { waiting, asks } = groupByColumn(smallBoard(), null);
    const { working } = groupByColumn({ ...smallBoard(), questions: [] }, null);
    const nowMs = (1_700_000_000 + 75) * 1000;
    assert.deepEqual(
      working.map((card) => cardFacts(card, nowMs).join(' · ')),
      ['agent · claude · 1 attempt · 1 min 15 s · 0/2 parts · $0.42'],
    );
    const [onAtlas] = working.map((card) => ({
      ...card,
      task: { ...card.task, machine: 'atlas' },
    }));
    assert.match(
      onAtlas === undefined ? '' : cardFacts(onAtlas, nowMs).join(' · '),
      / · on atlas · /,
    );
    assert.deepEqual(waiting.map(cardReason), ['after Print the tree', null]);
    assert.deepEqual(asks.map(cardReason), [null, null, 'The gate ended with exit code 1.']);
    assert.equal(asks.map((card) => cardFacts(card, nowMs)[0])[0], 'asks you');
  });

  test('the card of a running task names a forecast conflict, but no common file', () => {
    const overlap = { other: 'c', level: 'conflict', files: ['x.ts'], since: 1 } as const;
    const tasks = numbered([
      { id: 'a', status: 'in_progress', forecast: [overlap] },
      {
        id: 'c',
        title: 'The other',
        status: 'in_progress',
        forecast: [{ ...overlap, other: 'a', level: 'same_file' }],
      },
    ]);
    const { working } = groupByColumn(boardOf(tasks), null);
    assert.deepEqual(working.map(cardReason), ['conflicts with The other in x.ts', null]);
  });

  test('name the candidate that a running gate tests', () => {
    const gate = { line: 'main', second: false, since: 1 };
    const [first, last] = [['a'], ['a', 'b', 'c', 'd', 'e', 'f']];
    const tasks = numbered([
      {
        id: 'a',
        status: 'in_progress',
        running_gate: { ...gate, tasks: first, titles: ['Parse'], place: 1, early: false },
      },
      {
        id: 'f',
        status: 'in_progress',
        running_gate: {
          ...gate,
          line: 'drover/epic/e',
          tasks: last,
          titles: last,
          place: 6,
          early: true,
        },
      },
    ]);
    const { working } = groupByColumn(boardOf(tasks), null);
    assert.deepEqual(working.map(cardReason), [
      'Gate runs on main + Parse (1st in the queue)',
      'Gate runs early on the epic + a + b + c + 2 more + f (6th in the queue)',
    ]);
  });

  test('externally blocked tasks are shown to a person', () => {
    const tasks = numbered([{ id: 'a', status: 'blocked', blocked_reason: 'the licence' }]);
    const { asks } = groupByColumn(boardOf(tasks), null);
    assert.deepEqual(asks.map(cardReason), ['the licence']);
  });
});

suite('board: graph', () => {
  const all = { epic: null, hidesCompleted: false };

  test('it shows top-level tasks, their dependencies and the critical path', () => {
    const graph = buildGraph(smallBoard(), all);
    assert.deepEqual(
      graph.edges.map(({ blocker, dependent, isCritical }) => [blocker, dependent, isCritical]),
      [
        ['parse', 'print', false],
        ['print', 'check', true],
      ],
    );
    assert.deepEqual(graph.critical, ['print', 'check']);
    assert.deepEqual([...reachable('parse', graph.dependents)], ['print', 'check']);
    assert.deepEqual([...reachable('check', graph.blockers)], ['print', 'parse']);
  });

  test('it hides completed tasks and shows how many', () => {
    const graph = buildGraph(smallBoard(), { epic: 'syntax', hidesCompleted: true });
    assert.deepEqual([...graph.tasks.keys()], ['print', 'check']);
    assert.equal(graph.completedHidden, 1);
  });

  test("it shows an epic's blockers from outside the epic", () => {
    const tasks = numbered([
      { id: 'a', epic_id: 'one' },
      { id: 'b', epic_id: 'two', status: 'blocked', blocked_by: ['a'] },
      { id: 'c', epic_id: 'one', blocked_by: ['b'] },
    ]);
    const board = boardOf(tasks, [
      ['one', 'One'],
      ['two', 'Two'],
    ]);
    const graph = buildGraph(board, { epic: 'two', hidesCompleted: false });
    assert.deepEqual([...graph.tasks.keys()].sort(), ['a', 'b']);
    assert.deepEqual([...graph.outside], ['a']);
  });

  test('it counts dependencies of sub-tasks for their task, and forbids removing them there', () => {
    const tasks = numbered([
      { id: 'a' },
      { id: 'b' },
      { id: 'b.1', parent_id: 'b', blocked_by: ['a'] },
    ]);
    const { edges } = buildGraph(boardOf(tasks), all);
    assert.deepEqual(
      edges.map(({ blocker, dependent, isDirect }) => [blocker, dependent, isDirect]),
      [['a', 'b', false]],
    );
  });

  test('a graph of ten thousand tasks is limited', () => {
    const graph = buildGraph(largeBoard(), all);
    assert.equal(graph.tasks.size, shownTasksMax);
    assert.equal(graph.leftOut, 10_000 - shownTasksMax);
  });
});

suite('board: layout', () => {
  const chain = (
    count: number,
  ): { ids: string[]; edges: { blocker: string; dependent: string }[] } => {
    const ids = Array.from({ length: count }, (_, index) => `t${index}`);
    const edges = ids
      .slice(1)
      .map((id, index) => ({ blocker: `t${Math.floor(index / 3)}`, dependent: id }));
    return { ids, edges };
  };
  const overlaps = ({ places }: GraphLayout): number => {
    const all = [...places.values()];
    return all.filter((a, index) =>
      all.some((b, other) => {
        const isBeside = Math.abs(a.x - b.x) >= nodeWidthPx || Math.abs(a.y - b.y) >= nodeHeightPx;
        return other > index && !isBeside;
      }),
    ).length;
  };

  for (const count of [1, 40, 200, 1_000]) {
    test(`it places ${count} tasks apart, within its bounds, with blockers on the left`, () => {
      const { ids, edges } = chain(count);
      const layout = layoutGraph([...ids, 'loose-1', 'loose-2'], edges);
      assert.equal(layout.places.size, count + 2);
      assert.equal(layout.lines.length, edges.length);
      assert.equal(overlaps(layout), 0);
      for (const { x, y } of layout.places.values()) {
        assert.ok(x >= 0 && x + nodeWidthPx <= layout.width);
        assert.ok(y >= 0 && y + nodeHeightPx <= layout.height);
      }
      for (const { blocker, dependent } of edges) {
        const [a, b] = [layout.places.get(blocker), layout.places.get(dependent)];
        assert.ok(a !== undefined && b !== undefined && a.x + nodeWidthPx <= b.x);
      }
    });
  }

  test('it shows an unexpected loop', () => {
    const edges = [
      { blocker: 'a', dependent: 'b' },
      { blocker: 'b', dependent: 'a' },
    ];
    assert.equal(layoutGraph(['a', 'b'], edges).places.size, 2);
    const { ids, edges: more } = chain(400);
    const layout = layoutGraph(ids, [...more, { blocker: 't399', dependent: 't0' }]);
    assert.equal(layout.places.size, 400);
  });
});

suite('board: viewport', () => {
  const screen = { width: 800, height: 600 };
  const graph = { width: 2_000, height: 1_000 };

  test('it zooms around a point, which keeps its position', () => {
    const at = { x: 300, y: 200 };
    const view = zoomAround({ scale: 1, x: 10, y: 20 }, 2, at);
    assert.deepEqual(view, { scale: 2, x: -280, y: -160 });
    assert.equal(zoomAround(view, 1_000, at).scale, 2.5);
    assert.equal(zoomAround(view, 1e-6, at).scale, 0.1);
  });

  test('it shows everything, never enlarged', () => {
    const view = fit(graph, screen);
    assert.ok(view.scale < 1 && graph.width * view.scale <= screen.width);
    assert.equal(fit({ width: 100, height: 100 }, screen).scale, 1);
  });

  test('it always keeps the graph in sight', () => {
    const far = panBy({ scale: 1, x: 0, y: 0 }, -1e9, 1e9, graph, screen);
    assert.deepEqual(far, { scale: 1, x: 80 - graph.width, y: screen.height - 80 });
  });

  test('it moves only as far as needed to show a task', () => {
    const still = { scale: 1, x: 0, y: 0 };
    assert.deepEqual(reveal(still, { x: 100, y: 100 }, screen), still);
    const moved = reveal(still, { x: 1_000, y: 100 }, screen);
    assert.ok(moved.x < 0 && moved.y === 0);
    assert.ok(visibleBox(moved, screen).right > 1_000 + nodeWidthPx);
  });
});

suite('board: keys and memory', () => {
  const plain = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };
  const cases: readonly (readonly [object, unknown])[] = [
    [{ key: 'ArrowLeft' }, { kind: 'go', way: 'left' }],
    [
      { key: 'ArrowLeft', shiftKey: true },
      { kind: 'pan', dx: 80, dy: 0 },
    ],
    [{ key: 'B' }, { kind: 'add' }],
    [{ key: 'F10', shiftKey: true }, { kind: 'menu' }],
    [{ key: 'b', ctrlKey: true }, null],
    [{ key: 'toString' }, null],
  ];
  for (const [press, wanted] of cases) {
    test(`it handles ${JSON.stringify(press)}`, () => {
      assert.deepEqual(graphKey({ ...plain, key: '', ...press }), wanted);
    });
  }

  test('it discards damaged state', () => {
    assert.deepEqual(readMemory('x'), { mode: 'kanban', hidesCompleted: false });
    assert.deepEqual(readMemory({ mode: 'graph', epic: 7, hidesCompleted: 1 }), {
      mode: 'graph',
      hidesCompleted: false,
    });
    assert.deepEqual(readMemory({ mode: 'graph', epic: null }), {
      mode: 'graph',
      epic: null,
      hidesCompleted: false,
    });
  });
});
