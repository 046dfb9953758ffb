// Which tasks may start now.

import assert from 'node:assert/strict';
import { startableTasks } from '../../../server/store/work/startable.ts';
import { addTasks, memoryStore, moveTask, type TestStore } from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('start candidates', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  test('a task that waited for its account starts after a blocker that was added in between', async () => {
    const { first = '', second = '' } = await addTasks(project, [
      { title: 'first' },
      { title: 'second' },
    ]);
    await moveTask(project, second, ['claimed', 'in_progress', 'waiting'], { waiting_until_ms: 1 });
    const starts = async (): Promise<readonly string[]> => {
      const look = { epicId: null, nowMs: project.sources.nowMs, limit: 10 };
      return (await startableTasks(project.store.db, look)).map(({ id }) => id);
    };
    assert.deepEqual(await starts(), [second, first]);
    const edge = { task_id: second, blocked_by: first };
    await tablesOf(project.store.db).insertInto('task_dependencies').values(edge).execute();
    assert.deepEqual(await starts(), [first]);
    await moveTask(project, first, ['claimed', 'in_progress', 'completed']);
    assert.deepEqual(await starts(), [second]);
  });

  test("a waiting task is held by its sub-tasks' blockers, but never by the sub-tasks", async () => {
    const {
      outside = '',
      whole = '',
      part = '',
      deep = '',
    } = await addTasks(project, [
      { title: 'outside' },
      { title: 'whole' },
      { title: 'part', parent: 'whole' },
      { title: 'deep', parent: 'part' },
    ]);
    await moveTask(project, whole, ['claimed', 'in_progress', 'waiting'], { waiting_until_ms: 1 });
    await moveTask(project, outside, ['claimed', 'in_progress']);
    const starts = async (): Promise<readonly string[]> => {
      const look = { epicId: null, nowMs: project.sources.nowMs, limit: 10 };
      return (await startableTasks(project.store.db, look)).map(({ id }) => id);
    };
    const wait = (task_id: string, blocked_by: string): Promise<unknown> =>
      tablesOf(project.store.db)
        .insertInto('task_dependencies')
        .values({ task_id, blocked_by })
        .execute();
    await wait(whole, part);
    await wait(whole, deep);
    await wait(deep, part);
    assert.deepEqual(await starts(), [whole]);
    await wait(deep, outside);
    assert.deepEqual(await starts(), []);
    await moveTask(project, outside, ['completed']);
    assert.deepEqual(await starts(), [whole]);
  });
});
