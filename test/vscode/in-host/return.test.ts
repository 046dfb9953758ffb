// Second half: another window on the same repository finds the running agents, none lost and none
// doubled.

import assert from 'node:assert/strict';
import { ready, untilBoard } from './support.ts';

suite('a window that opens later', () => {
  test('it finds the running agents by itself, and they finish', async () => {
    const exports = await ready();
    const found = await untilBoard(exports, (board) => board.run?.active === true);
    assert.equal(found.board?.counts.in_progress, 3);
    assert.deepEqual(exports.shown, ['Reattached: 3 agents running, 3 wait for you']);
    const attached = exports.measurements.find(({ name }) => name === 'attached');
    console.log(`[test]      (attached ${attached?.ms.toFixed(0)} ms after the activation began)`);
    for (const { id } of found.board.questions)
      await found.request('answer', { id, choice: 'yes' });
    const done = await untilBoard(exports, (board) => board.counts.completed === 3);
    for (const { id } of done.board?.tasks ?? []) {
      assert.equal((await done.request('attempts', { id })).length, 1, id);
    }
  });
});
