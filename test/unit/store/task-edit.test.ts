// Editing tasks: fields, epics, parents and blockers, and the effects on readiness and chains.

import assert from 'node:assert/strict';
import type { TaskFields } from '../../../server/protocol/task-fields.ts';
import { addEpic } from '../../../server/store/plan/epics.ts';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import {
  addTasks,
  everything,
  memoryStore,
  moveTask,
  refusalOf,
  statusOf,
  type TestStore,
} from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('editTask', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  const edit = (id: string, fields: TaskFields): ReturnType<typeof editTask> =>
    project.store.transaction((tx) => editTask(tx, project.sources, id, fields));

  const chains = async (): Promise<Record<string, number>> => {
    const rows = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['title', 'chain'])
      .execute();
    return Object.fromEntries(rows.map((row) => [row.title, row.chain]));
  };

  test('criteria and description stay separate', async () => {
    const { A = '' } = await addTasks(project, [
      { title: 'A', description: 'Do it.', accept: ['one'] },
    ]);
    const criteria = '\n\nAcceptance Criteria:\n- ';
    assert.equal((await edit(A, { accept: ['two'] })).description, `Do it.${criteria}two`);
    assert.equal((await edit(A, { description: 'Now.' })).description, `Now.${criteria}two`);
    assert.equal((await edit(A, { accept: [] })).description, 'Now.');
    assert.equal((await edit(A, { description: '' })).description, null);
  });

  test("a task does not leave its work behind on its epic's line", async () => {
    const [one, two] = await project.store.transaction(async (tx) => [
      await addEpic(tx, project.sources, { title: 'One' }),
      await addEpic(tx, project.sources, { title: 'Two' }),
    ]);
    assert.ok(one !== undefined && two !== undefined);
    const { A = '' } = await addTasks(project, [{ title: 'A', epic: one.id }]);
    await moveTask(project, A, ['claimed', 'in_progress']);
    const before = await everything(project);
    const running = await refusalOf(edit(A, { epic: two.id }));
    assert.match(running.message, /is running and lands with/u);
    assert.equal(await everything(project), before);
    await moveTask(project, A, ['completed']);
    const branch = `drover/epic/${one.id}`;
    const { db } = project.store;
    await tablesOf(db)
      .updateTable('tasks')
      .set({ landed_on: branch })
      .where('id', '=', A)
      .execute();
    await tablesOf(db).updateTable('epics').set({ branch }).where('id', '=', one.id).execute();
    const completed = await refusalOf(edit(A, { epic: two.id }));
    assert.match(completed.message, /has not landed\. Move it after that/u);
    await tablesOf(db)
      .updateTable('epics')
      .set({ landing_state: 'landed' })
      .where('id', '=', one.id)
      .execute();
    assert.equal((await edit(A, { epic: two.id })).epic_id, two.id);
  });

  test('it reports which fields changed, and nothing if none did', async () => {
    const { A = '' } = await addTasks(project, [{ title: 'A', priority: 5 }]);
    project.sources.nowMs += 60_000;
    const row = await edit(A, { title: 'B', priority: 'normal', gate: 'make test' });
    assert.equal(row.updated_at - row.created_at, 60);
    const [event, ...more] = await project.store.feed.read({ type: 'task.edited' });
    assert.deepEqual(event?.data['changed'], ['title', 'test_command']);
    assert.deepEqual(more, []);
    const before = await everything(project);
    await edit(A, { title: 'B' });
    assert.equal(await everything(project), before);
  });

  test('a task is blocked and unblocked by its blockers', async () => {
    const ids = await addTasks(project, [{ title: 'A' }, { title: 'B' }, { title: 'C' }]);
    const { A = '', B = '', C = '' } = ids;
    await edit(C, { add_blockers: [A, B] });
    assert.equal(await statusOf(project, C), 'blocked');
    assert.deepEqual(await chains(), { A: 2, B: 2, C: 1 });
    await edit(C, { remove_blockers: [A] });
    assert.equal(await statusOf(project, C), 'blocked');
    await edit(C, { blocked_by: [] });
    assert.equal(await statusOf(project, C), 'ready');
    assert.deepEqual(await chains(), { A: 1, B: 1, C: 1 });
    const types = (await project.store.feed.read({ task: C })).map((event) => event.type);
    assert.deepEqual(types, [
      'task.created',
      'task.edited',
      'task.blocked',
      'task.edited',
      'task.edited',
      'task.unblocked',
    ]);
  });

  test('a loop is refused and named', async () => {
    const ids = await addTasks(project, [
      { title: 'A' },
      { title: 'B', blocked_by: ['A'] },
      { title: 'C', blocked_by: ['B'] },
    ]);
    const { A = '', B = '', C = '' } = ids;
    const before = await everything(project);
    const refusal = await refusalOf(edit(A, { add_blockers: [C] }));
    assert.equal(refusal.kind, 'cycle');
    assert.ok(refusal.message.includes(`${A} → ${C} → ${B} → ${A}`), refusal.message);
    assert.equal((await refusalOf(edit(A, { add_blockers: [A] }))).kind, 'cycle');
    assert.equal((await refusalOf(edit(C, { remove_blockers: [A] }))).kind, 'unknown_id');
    assert.equal((await refusalOf(edit('task-none', { title: 'x' }))).kind, 'unknown_id');
    assert.equal(await everything(project), before);
  });

  test('a running task is edited, but not moved', async () => {
    const { A = '', B = '' } = await addTasks(project, [{ title: 'A' }, { title: 'B' }]);
    await moveTask(project, A, ['claimed', 'in_progress']);
    assert.equal((await edit(A, { title: 'Other', add_blockers: [B] })).status, 'in_progress');
    assert.equal((await refusalOf(edit(A, { parent: B }))).kind, 'bad_state');
  });

  test('a task moves below a parent and out again, with its sub-tasks', async () => {
    const epic = await project.store.transaction((tx) =>
      addEpic(tx, project.sources, { title: 'E' }),
    );
    const ids = await addTasks(project, [
      { title: 'P', epic: epic.id },
      { title: 'A' },
      { title: 'S', parent: 'A' },
      { title: 'X' },
    ]);
    const { P = '', A = '', S = '', X = '' } = ids;
    await edit(S, { add_blockers: [X] });
    const moved = await edit(A, { parent: P });
    assert.deepEqual([moved.parent_id, moved.sequence_number, moved.epic_id], [P, 1, epic.id]);
    assert.equal(await statusOf(project, P), 'blocked');
    const below = await edit(S, { title: 'S2' });
    assert.equal(below.epic_id, epic.id);
    assert.equal((await refusalOf(edit(P, { parent: S }))).kind, 'cycle');
    assert.equal((await refusalOf(edit(P, { parent: X }))).kind, 'depth');
    assert.equal((await refusalOf(edit(S, { epic: null }))).kind, 'bad_value');
    const out = await edit(A, { parent: null, epic: null });
    assert.deepEqual([out.parent_id, out.sequence_number, out.epic_id], [null, 0, null]);
    assert.equal(await statusOf(project, P), 'ready');
    assert.equal(await statusOf(project, A), 'blocked');
  });
});
