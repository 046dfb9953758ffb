// The board in a page: a small board whole, of a large one the neighborhood of a task.

import assert from 'node:assert/strict';
import { firstBoard } from '../../../extension/webviews/first-board.ts';
import type { TaskView } from '../../../server/protocol/views.ts';
import { epicView, questionView, snapshotOf, taskView } from '../../doubles/views.ts';

const others = Array.from({ length: 300 }, (_, index) => taskView({ id: `other-${index}` }));
const around: readonly TaskView[] = [
  taskView({ id: 'whole' }),
  taskView({ id: 'part', parent_id: 'whole', blocked_by: ['other-1'] }),
  taskView({ id: 'piece', parent_id: 'part' }),
  taskView({ id: 'later', blocked_by: ['part'] }),
];
const large = {
  ...snapshotOf([...others, ...around], { epics: [epicView({ id: 'e' })] }),
  questions: ['part', 'other-2'].map((id) => questionView({ id: `q-${id}`, task_id: id })),
  stuck: ['later', 'other-3'].map((id) => ({ id, waits_for: [], reason: '' })),
};
const ids = (tasks: readonly { readonly id: string }[] = []) => tasks.map(({ id }) => id);

suite('the first board of a page', () => {
  test('it is the whole board while the board is small', () => {
    const small = snapshotOf(around);
    assert.equal(firstBoard(small, null), small);
  });

  test("for a large board, it contains the content of a task's page, in its order", () => {
    const first = firstBoard(large, 'part');
    assert.deepEqual(ids(first?.tasks), ['other-1', 'whole', 'part', 'piece', 'later']);
    assert.deepEqual(ids(first?.questions), ['q-part']);
    assert.deepEqual(ids(first?.stuck), ['later']);
    assert.deepEqual(ids(first?.epics), ['e']);
    assert.deepEqual([first?.seq, first?.counts], [large.seq, large.counts]);
  });

  test('it stays small if a task has many neighbors', () => {
    const hub = taskView({ id: 'hub', epic_id: 'e-7', blocked_by: ids(others) });
    const epics = others.map((_, index) => epicView({ id: `e-${index}` }));
    const first = firstBoard(snapshotOf([...others, hub], { epics }), 'hub');
    assert.equal(first?.tasks.length, 201);
    assert.deepEqual(ids(first?.epics), ['e-7']);
  });

  test('it is null for a large board on other panels, or for a missing task', () => {
    assert.equal(firstBoard(large, null), null);
    assert.equal(firstBoard(large, 'gone'), null);
  });
});
