// Events that are kept as stories: a story is continued, never told twice, and told anew when
// retention has removed events.

import assert from 'node:assert/strict';
import { ToldStories } from '../../../server/store/history/told-stories.ts';
import { addTasks, memoryStore, moveTask, type TestStore } from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('stored task histories', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  test('only new events are read, and the histories equal those of the whole feed', async () => {
    const { db } = project.store;
    const told = new ToldStories();
    const { A = '' } = await addTasks(project, [{ title: 'A' }]);
    const first = await told.read(db);
    await moveTask(project, A, ['claimed', 'in_progress']);
    await addTasks(project, [{ title: 'B' }]);
    // Several callers ask at once: each event is reported once.
    const [next, other] = await Promise.all([told.read(db), told.read(db)]);
    assert.equal(next, first);
    assert.equal(other, first);
    assert.deepEqual(next, await new ToldStories().read(db));
    assert.equal(next.tasks.size, 2);
  });

  test('events that retention has removed are no longer included', async () => {
    const { db } = project.store;
    const told = new ToldStories();
    const { A = '', B = '' } = await addTasks(project, [{ title: 'A' }, { title: 'B' }]);
    await moveTask(project, A, ['claimed', 'in_progress']);
    await moveTask(project, B, ['claimed']);
    assert.equal((await told.read(db)).tasks.size, 2);
    await tablesOf(db).deleteFrom('events').where('task_id', '=', A).execute();
    const left = await told.read(db);
    assert.deepEqual([...left.tasks.keys()], [B]);
    assert.deepEqual(left, await new ToldStories().read(db));
  });
});
