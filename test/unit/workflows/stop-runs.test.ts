// A run that ends by itself just as it is stopped.

import assert from 'node:assert/strict';
import { activeRunsIn, endRun, insertRun, runById } from '../../../server/store/port.ts';
import { stopRuns } from '../../../server/workflows/engine.ts';
import { memoryStore } from '../store/memory-store.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';

suite('stopping runs', () => {
  test('a run that has already finished stays finished', async () => {
    const project = await memoryStore();
    const { store } = project;
    await store.transaction((tx) =>
      insertRun(tx, {
        id: 'run-1',
        state: 'active',
        started_at_ms: 1,
        ended_at_ms: null,
        workers: 1,
        epic_id: null,
        land: 'task',
        target_branch: 'main',
        line: 'main',
        base_sha: 'base',
        result_branch: null,
        flags: '{}',
        settings: null,
      }),
    );
    const engine = {
      clock: { now: () => 3 },
      store: {
        ...store,
        transaction: async (body: Parameters<typeof store.transaction>[0]) => {
          await store.transaction((tx) => endRun(tx, 'run-1', { state: 'finished', atMs: 2 }));
          return store.transaction(body);
        },
      },
    } as unknown as Engine;
    assert.equal((await activeRunsIn(store.db)).length, 1);
    assert.deepEqual(await stopRuns(engine, null), []);
    const run = await runById(store.db, 'run-1');
    assert.deepEqual([run?.state, run?.ended_at_ms], ['finished', 2]);
    await project.close();
  });
});
