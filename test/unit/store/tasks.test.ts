// Adding tasks: fields, places, blockers, chains, and refusals.

import assert from 'node:assert/strict';
import type { TaskFields } from '../../../server/protocol/task-fields.ts';
import { showTask } from '../../../server/store/board/show.ts';
import { addEpic } from '../../../server/store/plan/epics.ts';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { addTask, type NewTaskFields } from '../../../server/store/plan/tasks.ts';
import {
  addTasks,
  everything,
  memoryStore,
  moveTask,
  refusalOf,
  type TestStore,
} from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('addTask', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  const add = (fields: NewTaskFields): ReturnType<typeof addTask> =>
    project.store.transaction((tx) => addTask(tx, project.sources, fields));

  test('it stores the given fields', async () => {
    const row = await add({
      title: '  Write the parser ',
      description: 'In src/parse.ts.',
      priority: 'high',
      type: 'feature',
      labels: ['core', 'core', ' io '],
      accept: ['it parses', 'it fails\nwell'],
      agent: 'command',
      gate: 'npm test',
      test_mode: 'disabled',
      test_scope: 'all',
      max_attempts: 5,
    });
    const { title, priority, type, status, agent, test_command: gate } = row;
    assert.deepEqual(
      { title, priority, type, status, agent, gate },
      {
        title: 'Write the parser',
        priority: 7,
        type: 'feature',
        status: 'ready',
        agent: 'command',
        gate: 'npm test',
      },
    );
    assert.equal(
      row.description,
      'In src/parse.ts.\n\nAcceptance Criteria:\n- it parses\n- it fails well',
    );
    assert.deepEqual(JSON.parse(row.labels), ['core', 'io']);
    assert.deepEqual([row.test_mode, row.test_scope, row.max_attempts], ['disabled', 'all', 5]);
    const [event] = await project.store.feed.read({ type: 'task.created' });
    assert.equal(event?.task_id, row.id);
    assert.equal(event?.data['status'], 'ready');
  });

  const priorities: readonly [number | string, number][] = [
    ['critical', 10],
    ['High', 7],
    ['normal', 5],
    ['low', 2],
    [-3, -3],
    ['400', 400],
    ['-1', -1],
  ];
  for (const [given, stored] of priorities) {
    test(`the priority ${given} is read`, async () => {
      assert.equal((await add({ title: 'Read it', priority: given })).priority, stored);
    });
  }

  test('a task has the normal priority unless another is given', async () => {
    const { id, priority } = await add({ title: 'By hand' });
    assert.equal(priority, 5);
    assert.equal((await add({ title: 'A part', parent: id })).priority, 5);
    assert.equal((await add({ title: 'Last', priority: 0 })).priority, 0);
  });

  const refused: readonly [string, TaskFields & { title: string }, string, RegExp][] = [
    ['a blank title', { title: ' \n ' }, 'bad_title', /title must not be blank/],
    ['a long title', { title: 'x'.repeat(1001) }, 'bad_title', /1001 characters, 1000 are/],
    ['a title with a bell', { title: 'ring \u0007 it' }, 'bad_value', /U\+0007/],
    ['a title in two lines', { title: 'one\ntwo' }, 'bad_value', /U\+000A/],
    ['a zero character', { title: 'x', description: 'a\0b' }, 'bad_value', /U\+0000/],
    ['a huge text', { title: 'x', description: 'x'.repeat(1_048_577) }, 'bad_value', /1048577/],
    ['a type', { title: 'x', type: 'epic' }, 'bad_value', /"epic"; use one of feature, bug/],
    ['a mode', { title: 'x', test_mode: 'loose' }, 'bad_value', /strict, lenient, disabled/],
    ['a scope', { title: 'x', test_scope: 'half' }, 'bad_value', /diff, all, skip/],
    ['an agent', { title: 'x', agent: 'nobody' }, 'bad_value', /claude, drover-code/],
    ['a model', { title: 'x', model: '--help' }, 'bad_value', /model must be a name/],
    ['a priority word', { title: 'x', priority: 'asap' }, 'bad_value', /"asap"; use a whole/],
    ['a fraction', { title: 'x', priority: 1.5 }, 'bad_value', /"1.5"/],
    ['no attempts', { title: 'x', max_attempts: 0 }, 'bad_value', /from 1 to 10/],
    ['eleven attempts', { title: 'x', max_attempts: 11 }, 'bad_value', /from 1 to 10/],
    ['a blank label', { title: 'x', labels: ['a', ' '] }, 'bad_value', /blank entry/],
    ['an unknown epic', { title: 'x', epic: 'epic-none' }, 'unknown_id', /"epic-none"/],
    ['an unknown parent', { title: 'x', parent: 'task-none' }, 'unknown_id', /"task-none"/],
    ['an unknown blocker', { title: 'x', blocked_by: ['task-none'] }, 'unknown_id', /task-none/],
  ];
  for (const [name, fields, kind, message] of refused) {
    test(`it refuses ${name} and changes nothing`, async () => {
      const before = await everything(project);
      const refusal = await refusalOf(add(fields));
      assert.equal(refusal.kind, kind);
      assert.match(refusal.message, message);
      assert.equal(await everything(project), before);
    });
  }

  test('it requests a model, and warns if its agent supports none', async () => {
    const { id, model } = await add({ title: 'Print the tree', agent: 'claude', model: ' opus ' });
    assert.equal(model, 'opus');
    const views = [await showTask(project.store.db, id)];
    const edit = { agent: 'codex' };
    await project.store.transaction((tx) => editTask(tx, project.sources, id, edit));
    views.push(await showTask(project.store.db, id));
    assert.deepEqual(
      views.map(({ model: asked, warnings }) => [asked, warnings.join(' ').includes('not used')]),
      [
        ['opus', false],
        ['opus', true],
      ],
    );
  });

  test('a task is blocked by incomplete tasks', async () => {
    const ids = await addTasks(project, [{ title: 'A' }, { title: 'B', blocked_by: ['A'] }]);
    await moveTask(project, ids['A'] ?? '', ['claimed', 'in_progress', 'completed']);
    const after = await add({ title: 'C', blocked_by: [ids['A'] ?? ''] });
    assert.equal(after.status, 'ready');
    const rows = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['title', 'status'])
      .orderBy('position')
      .execute();
    assert.deepEqual(
      rows.map((row) => `${row.title} ${row.status}`),
      ['A completed', 'B ready', 'C ready'],
    );
  });

  test('it extends the chains of its blockers', async () => {
    await addTasks(project, [
      { title: 'A' },
      { title: 'B', blocked_by: ['A'] },
      { title: 'S', parent: 'B' },
      { title: 'C', blocked_by: ['S'] },
      { title: 'D', blocked_by: ['A'] },
    ]);
    const rows = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['title', 'chain'])
      .where('parent_id', 'is', null)
      .execute();
    assert.deepEqual(Object.fromEntries(rows.map((row) => [row.title, row.chain])), {
      A: 3,
      B: 2,
      C: 1,
      D: 1,
    });
  });

  test('chains stay correct beyond the limit of extending them one by one', async () => {
    const titles = Array.from({ length: 60 }, (_, index) => `T${index}`);
    await addTasks(
      project,
      titles.map((title, index) => ({
        title,
        blocked_by: index === 0 ? [] : [titles[index - 1] ?? ''],
      })),
    );
    const first = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select('chain')
      .where('title', '=', 'T0')
      .executeTakeFirst();
    assert.equal(first?.chain, 60);
  });
});

suite('addTask: sub-tasks', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  const add = (fields: NewTaskFields): ReturnType<typeof addTask> =>
    project.store.transaction((tx) => addTask(tx, project.sources, fields));

  test("it numbers them and assigns them to their parent's epic", async () => {
    const epic = await project.store.transaction((tx) =>
      addEpic(tx, project.sources, { title: 'E' }),
    );
    const parent = await add({ title: 'Parent', epic: epic.id });
    const first = await add({ title: 'First', parent: parent.id });
    const second = await add({ title: `${parent.id}.5 Fifth` });
    const third = await add({ title: 'Next', parent: parent.id });
    const below = await add({ title: 'Below', parent: first.id });
    assert.deepEqual(
      [first, second, third, below].map((row) => [row.id, row.sequence_number, row.epic_id]),
      [
        [`${parent.id}.1`, 1, epic.id],
        [`${parent.id}.5`, 5, epic.id],
        [`${parent.id}.6`, 6, epic.id],
        [`${first.id}.1`, 1, epic.id],
      ],
    );
    assert.equal(second.title, 'Fifth');
    const taken = await refusalOf(add({ title: `${parent.id}.5 Again` }));
    assert.equal(taken.kind, 'id_taken');
    const deep = await refusalOf(add({ title: 'Too deep', parent: below.id }));
    assert.equal(deep.kind, 'depth');
    const otherEpic = await project.store.transaction((tx) =>
      addEpic(tx, project.sources, { title: 'Other' }),
    );
    const wrong = await refusalOf(add({ title: 'x', parent: parent.id, epic: otherEpic.id }));
    assert.match(wrong.message, /belongs to the epic of its parent/);
  });

  const parents: readonly [string, Parameters<typeof moveTask>[2], RegExp][] = [
    ['completed', ['claimed', 'in_progress', 'completed'], /is completed/],
    ['cancelled', ['cancelled'], /is cancelled/],
    ['at work', ['claimed', 'in_progress'], /pause it first/],
    ['to review', ['claimed', 'in_progress', 'needs_review'], /send it back first/],
  ];
  for (const [name, statuses, message] of parents) {
    test(`it refuses a sub-task of a parent that is ${name}`, async () => {
      const parent = await add({ title: 'Parent' });
      await moveTask(project, parent.id, statuses);
      const refusal = await refusalOf(add({ title: 'Late', parent: parent.id }));
      assert.equal(refusal.kind, 'bad_state');
      assert.match(refusal.message, message);
    });
  }

  test("the parent waits for its sub-task's blocker", async () => {
    const ids = await addTasks(project, [
      { title: 'A' },
      { title: 'P' },
      { title: 'S', parent: 'P', blocked_by: ['A'] },
    ]);
    const rows = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['title', 'status'])
      .orderBy('position')
      .execute();
    assert.deepEqual(
      rows.map((row) => `${row.title} ${row.status}`),
      ['A ready', 'P blocked', 'S blocked'],
    );
    await moveTask(project, ids['A'] ?? '', ['claimed', 'in_progress', 'completed']);
    const after = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select('status')
      .orderBy('position')
      .execute();
    assert.deepEqual(
      after.map((row) => row.status),
      ['completed', 'ready', 'ready'],
    );
  });

  test('it refuses a sub-task that waits for its own parent, and names the loop', async () => {
    const ids = await addTasks(project, [{ title: 'P' }, { title: 'Q', blocked_by: ['P'] }]);
    const { P = '', Q = '' } = ids;
    const before = await everything(project);
    const own = await refusalOf(add({ title: 'S', parent: P, blocked_by: [P] }));
    assert.equal(own.kind, 'cycle');
    assert.ok(
      own.message.includes(`${P}.1 → ${P} → ${P}.1`) ||
        own.message.includes(`${P} → ${P}.1 → ${P}`),
    );
    const far = await refusalOf(add({ title: 'S', parent: P, blocked_by: [Q] }));
    assert.equal(far.kind, 'cycle');
    assert.ok(far.message.includes(' → '));
    assert.equal(await everything(project), before);
  });
});
