// A run that was full checks again cheaply: it finds a free worker, and a choice that is due.

import assert from 'node:assert/strict';
import { newestRun, openCandidates, type RunRow, taskById } from '../../../server/store/port.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';
import { isStillFull } from '../../../server/workflows/run/dispatch.ts';
import { addTasks, memoryStore, moveTask, type TestStore } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('a run that was full', () => {
  let project: TestStore;
  let engine: Engine;
  let run: RunRow;
  let ids: Readonly<Record<string, string>>;

  setup(async () => {
    project = await memoryStore();
    const { store } = project;
    engine = { store, machineId: '' } as unknown as Engine;
    ids = await addTasks(project, [{ title: 'A' }, { title: 'B' }, { title: 'C' }]);
    await tablesOf(store.db)
      .insertInto('runs')
      .values({
        id: 'run-1',
        state: 'active',
        started_at_ms: 1,
        workers: 2,
        land: 'task',
        target_branch: 'main',
        line: 'main',
        base_sha: 'base',
        flags: '{}',
      })
      .execute();
    const row = await newestRun(store.db);
    assert.ok(row);
    run = row;
    for (const title of ['A', 'B'])
      await moveTask(project, ids[title] ?? '', ['claimed', 'in_progress']);
  });
  teardown(() => project.close());

  test('it stays full while each worker has a task', async () => {
    assert.equal(await isStillFull(engine, run), true);
  });

  test('it is not full once a task has ended', async () => {
    await moveTask(project, ids['A'] ?? '', ['completed']);
    assert.equal(await isStillFull(engine, run), false);
  });

  test('it is not full while a task waits to land', async () => {
    await tablesOf(project.store.db)
      .updateTable('tasks')
      .set({ phase: 'land' })
      .where('title', '=', 'A')
      .execute();
    assert.equal(await isStillFull(engine, run), false);
  });

  test('it checks everything if candidates exist, whose choice needs no free worker', async () => {
    const { store } = project;
    await store.transaction(async (tx) => {
      const task = await taskById(tx, ids['C'] ?? '');
      assert.ok(task);
      await openCandidates(tx, store.sources, task, { count: 2, baseSha: 'b', runId: 'run-1' });
    });
    assert.equal(await isStillFull(engine, run), false);
  });
});
