// Tasks whose blockers have landed on the line of another run: known before they are claimed.

import assert from 'node:assert/strict';
import { tasksBehindLines } from '../../../server/store/port.ts';
import { tablesOf } from '../../tables.ts';
import { addTasks, memoryStore, moveTask, statusOf, type TestStore } from './memory-store.ts';

const scope = { epicId: null, exceptEpics: [], tasks: null, line: 'main' };
const epicLine = 'drover/epic/e';

suite('tasks whose blockers are on another line', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  /** A blocker that landed on the epic's line, and what waits for it. */
  async function landed(
    tasks: readonly { title: string; parent?: string; blocked_by?: string[] }[],
  ): Promise<Readonly<Record<string, string>>> {
    const ids = await addTasks(project, [{ title: 'Blocker' }, ...tasks]);
    const set = { landed_on: epicLine, landed_sha: 'b' };
    await moveTask(project, ids['Blocker'] ?? '', ['claimed', 'in_progress', 'completed'], set);
    return ids;
  }

  const behind = async (): Promise<readonly string[]> => {
    const rows = await tasksBehindLines(project.store.db, scope, [epicLine]);
    return rows.map((row) => `${row.id} ${row.sha}`);
  };

  for (const depth of [0, 1, 2]) {
    test(`a task is behind for what it waits for ${depth} levels below it`, async () => {
      const tasks = ['Task', 'Task 1', 'Task 1.1'].slice(0, depth + 1).map((title, level, all) => ({
        title,
        ...(level === 0 ? {} : { parent: all[level - 1] ?? '' }),
        ...(level === depth ? { blocked_by: ['Blocker'] } : {}),
      }));
      const ids = await landed([...tasks, { title: 'Free' }]);
      const id = ids['Task'] ?? '';
      assert.equal(await statusOf(project, id), 'ready');
      assert.deepEqual(await behind(), [`${id} b`]);
      await tablesOf(project.store.db)
        .updateTable('tasks')
        .set({ landed_on: 'main' })
        .where('id', '=', ids['Blocker'] ?? '')
        .execute();
      assert.deepEqual(await behind(), []);
    });
  }

  test('what a finished or cancelled sub-task waited for is no base of anything', async () => {
    const sub = { parent: 'Task', blocked_by: ['Blocker'] };
    const ids = await landed([
      { title: 'Task' },
      { title: 'Done', ...sub },
      { title: 'Cancelled', ...sub },
    ]);
    for (const status of ['completed', 'cancelled'] as const) {
      const title = status === 'completed' ? 'Done' : 'Cancelled';
      await tablesOf(project.store.db)
        .updateTable('tasks')
        .set({ status })
        .where('id', '=', ids[title] ?? '')
        .execute();
    }
    assert.deepEqual(await behind(), []);
  });
});
