// Whatever happens to a board, rows that were updated step by step equal rows that are computed
// from scratch.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { EpicView, StatusSnapshot, TaskView } from '../../../../server/protocol/views.ts';
import { readMemory } from '../../../../webview/tree/tree-memory.ts';
import { TreeState } from '../../../../webview/tree/tree-state.ts';
import { epicView, snapshotOf, taskView } from '../../../doubles/views.ts';

type Step = (board: StatusSnapshot) => StatusSnapshot;

const epic = (id: string, title: string): EpicView => epicView({ id, title });
const small = fc.nat({ max: 7 });
const isKept = (task: TaskView, at: number): boolean => task.id !== `t${at}`;

/** A different task is at this place, and everything else is unchanged. */
function withTask(at: number, change: Partial<TaskView>): Step {
  return (board) => ({
    ...board,
    tasks: board.tasks.map((task, index) => (index === at ? { ...task, ...change } : task)),
  });
}

const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(small, fc.constantFrom('ready', 'in_progress', 'completed', 'failed'))
    .map(([at, status]) => withTask(at, { status: status as TaskView['status'] })),
  fc.tuple(small, fc.string()).map(([at, title]) => withTask(at, { title })),
  fc.tuple(small, small).map(([at, to]) => withTask(at, { epic_id: `e${to % 3}` })),
  fc.tuple(small, small).map(([at, to]) => withTask(at, { parent_id: to < at ? `t${to}` : null })),
  small.map((at) => (board: StatusSnapshot) => ({
    ...board,
    tasks: board.tasks.filter((task) => isKept(task, at)),
  })),
  small.map((at) => (board: StatusSnapshot) => ({
    ...board,
    tasks: [...board.tasks.filter((task) => isKept(task, at)), taskView({ id: `t${at}` })],
  })),
  fc.string().map((title) => (board: StatusSnapshot) => ({
    ...board,
    epics: board.epics.map(({ id }) => epic(id, title)),
  })),
  fc.constant((board: StatusSnapshot) => ({ ...board, epics: board.epics.toReversed() })),
);

function begin(): StatusSnapshot {
  const tasks = Array.from({ length: 8 }, (_, at) =>
    taskView({ id: `t${at}`, epic_id: at < 6 ? `e${at % 3}` : null }),
  );
  const epics = ['e0', 'e1', 'e2'].map((id) => epic(id, id));
  return { ...snapshotOf(tasks), epics };
}

function stateWith(collapsed: readonly string[], text: string): TreeState {
  return new TreeState({ ...readMemory(null), collapsed, text, hasBar: text !== '' });
}

suite('rows of the tree', () => {
  test('applying changes along any history gives the same rows as a first read', () => {
    const collapsed = fc.subarray(['epic/e0', 'epic/e1', 'task/t1', 'loose']);
    const text = fc.constantFrom('', '', 't1');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), collapsed, text, (steps, folded, words) => {
        const followed = stateWith(folded, words);
        let board = begin();
        followed.update(board);
        for (const one of steps) {
          board = one(board);
          followed.update(board);
          const fresh = stateWith(folded, words);
          fresh.update(board);
          assert.deepEqual(followed.rows, fresh.rows);
          assert.deepEqual(followed.keys, fresh.keys);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('a running task does not change the rows of all others', () => {
    const state = stateWith([], '');
    const board = begin();
    state.update(board);
    const before = state.rows;
    state.update(withTask(3, { status: 'in_progress' })(board));
    const others = (row: { key: string }): boolean => row.key !== 'task/t3';
    assert.equal(state.rows.filter((row, at) => row !== before[at]).length, 1);
    assert.ok(state.rows.filter(others).every((row) => before.includes(row)));
  });
});
