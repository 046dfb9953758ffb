// Epics: adding, editing, closing and reopening them.

import assert from 'node:assert/strict';
import { addEpic, closeEpic, editEpic } from '../../../server/store/plan/epics.ts';
import { readEpics } from '../../../server/store/board/snapshot.ts';
import {
  addTasks,
  everything,
  memoryStore,
  moveTask,
  refusalOf,
  type TestStore,
} from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('epics', () => {
  let project: TestStore;
  let id: string;
  setup(async () => {
    project = await memoryStore();
    const row = await project.store.transaction((tx) =>
      addEpic(tx, project.sources, { title: 'Money', description: 'All of it.' }),
    );
    id = row.id;
  });
  teardown(() => project.close());

  const close = (): ReturnType<typeof closeEpic> =>
    project.store.transaction((tx) => closeEpic(tx, project.sources, id));

  test('an epic is edited, and the changes are reported', async () => {
    const row = await project.store.transaction((tx) =>
      editEpic(tx, project.sources, id, { title: 'Currencies', description: '' }),
    );
    assert.deepEqual([row.title, row.description], ['Currencies', null]);
    const [event] = await project.store.feed.read({ type: 'epic.edited' });
    assert.deepEqual(event?.data['changed'], ['title', 'description']);
    const blank = project.store.transaction((tx) =>
      editEpic(tx, project.sources, id, { title: ' ' }),
    );
    assert.equal((await refusalOf(blank)).kind, 'bad_title');
    const none = project.store.transaction((tx) => editEpic(tx, project.sources, 'none', {}));
    assert.equal((await refusalOf(none)).kind, 'unknown_id');
  });

  test('an epic stays open while a task is unfinished', async () => {
    const { A = '', B = '' } = await addTasks(project, [
      { title: 'A', epic: id },
      { title: 'B', epic: id },
    ]);
    await moveTask(project, A, ['claimed', 'in_progress', 'completed']);
    const before = await everything(project);
    const refusal = await refusalOf(close());
    assert.equal(refusal.kind, 'epic_open');
    assert.ok(refusal.message.includes(`${B} (ready)`));
    assert.equal(await everything(project), before);
    await moveTask(project, B, ['cancelled']);
    assert.equal((await close()).status, 'closed');
    assert.equal((await close()).status, 'closed');
    assert.equal((await project.store.feed.read({ type: 'epic.closed' })).length, 1);
  });

  test('an epic stays open while it waits for an approval', async () => {
    await tablesOf(project.store.db)
      .updateTable('epics')
      .set({ landing_state: 'needs_review' })
      .execute();
    assert.match((await refusalOf(close())).message, /drover approve/);
  });

  test('an approved epic waits for no person, unless other work must land', async () => {
    const state = async (change: object): Promise<string | null | undefined> => {
      await tablesOf(project.store.db).updateTable('epics').set(change).execute();
      return (await readEpics(project.store.db))[0]?.landing_state;
    };
    const shown = { landing_state: 'needs_review', review_tree: 'one' };
    assert.equal(await state(shown), 'needs_review');
    assert.equal(await state({ approved_tree: 'one' }), 'landing');
    assert.equal(await state({ review_tree: 'two' }), 'needs_review');
    assert.equal(await state({ landing_state: 'landed' }), 'landed');
  });

  test('an epic opens again for a new task', async () => {
    await close();
    await addTasks(project, [{ title: 'Late', epic: id }]);
    const [epic] = await readEpics(project.store.db);
    assert.deepEqual([epic?.status, epic?.counts.total, epic?.counts.ready], ['open', 1, 1]);
  });
});
