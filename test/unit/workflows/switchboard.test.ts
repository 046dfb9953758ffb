// A stop reaches the running step of the attempt that it was meant for, and no other.

import assert from 'node:assert/strict';
import { Switchboard } from '../../../server/workflows/kit/engine-ports.ts';

suite('stops', () => {
  test('they reach every step of the attempt that runs, once it runs', async () => {
    const switchboard = new Switchboard();
    switchboard.stop('a', 1);
    await switchboard.untilStopped([{ taskId: 'a', epoch: 1 }], async (early) => {
      assert.equal(early.aborted, false, 'what was asked before is told by the row');
      await switchboard.untilStopped(
        [
          { taskId: 'b', epoch: 4 },
          { taskId: 'a', epoch: 1 },
        ],
        async (batch) => {
          switchboard.stop('a', 1);
          assert.deepEqual([early.aborted, batch.aborted], [true, true]);
        },
      );
    });
    assert.deepEqual(switchboard.stoppable(), []);
  });

  test('stops of an earlier attempt do not affect a later one', async () => {
    const switchboard = new Switchboard();
    await switchboard.untilStopped([{ taskId: 'a', epoch: 1 }], async () => {
      switchboard.stop('a', 1);
      assert.deepEqual(switchboard.stoppable(), []);
    });
    await switchboard.untilStopped([{ taskId: 'a', epoch: 2 }], async (signal) => {
      switchboard.stop('a', 1);
      assert.equal(signal.aborted, false);
      assert.deepEqual(
        switchboard.stoppable().map(({ epoch }) => epoch),
        [2],
      );
      switchboard.stop('a', null);
      assert.equal(signal.aborted, true);
    });
  });
});
