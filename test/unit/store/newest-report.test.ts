// A report that is requested without an id is that of the newest run.

import assert from 'node:assert/strict';
import { readReport, readRuns } from '../../../server/store/history/read-history.ts';
import { memoryStore, type TestStore } from './memory-store.ts';

suite('report of the newest run', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  test('it is the report of the first run in the list, and is refused before any run', async () => {
    const { store } = project;
    const newest = { id: null, nowMs: 9_000_000_000_000 };
    await assert.rejects(readReport(store.db, newest), /No run has been started/u);
    for (const runId of ['run-a', 'run-b']) {
      const data = { run: runId, workers: 1, target: 'main' };
      await store.transaction((tx) => store.append(tx, { type: 'run.started', runId, data }));
      const { runs } = await readRuns(store.db, { search: '', max: 5, nowMs: newest.nowMs });
      assert.equal(runs[0]?.id, runId);
      assert.equal((await readReport(store.db, newest)).id, runId);
    }
  });
});
