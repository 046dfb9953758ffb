// A database that the public Go tool created is taken over whole, with a backup beside it, or is
// refused unchanged.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from '../../../server/store/open.ts';
import { readSnapshot } from '../../../server/store/board/snapshot.ts';
import { schemaVersion } from '../../../server/store/schema/schema.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import { removeFolder } from '../../remove-folder.ts';
import { refusalOf, testSources } from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

/** The tables as that tool creates them, as far as they matter here. */
const goTables = `
  create table epics (id text primary key, title text not null, description text,
    status text not null default 'open', created_at integer not null);
  create table tasks (id text primary key, title text not null, description text,
    epic_id text references epics(id), parent_id text references tasks(id) on delete cascade,
    sequence_number integer default 0, type text default 'other', priority integer default 0,
    status text not null default 'ready', attempts integer default 0, max_attempts integer default 3,
    last_error text, claimed_by text, claimed_at integer, operator text default '',
    verdict text default 'unknown', verdict_reason text, test_mode text default 'strict',
    test_scope text default 'diff', test_command text, created_at integer not null,
    updated_at integer not null);
  create table task_dependencies (
    task_id text not null references tasks(id) on delete cascade,
    blocked_by text not null references tasks(id) on delete cascade, primary key (task_id, blocked_by));
  create table worktrees (task_id text primary key references tasks(id) on delete cascade, path text,
    branch text, created_at integer, last_used_at integer, status text default 'active',
    disk_size integer default 0);
  create table events (id text primary key, type text not null, timestamp integer not null,
    task_id text references tasks(id), epic_id text references epics(id), data text);
  create table guidance_queue (id text primary key, task_id text references tasks(id), message text,
    created_at integer, delivered integer default 0);
  create table plans (id text primary key, task_id text references tasks(id), title text);
  create index idx_tasks_status on tasks(status);
`;

const goRows = `
  insert into epics values ('epic-1', 'Money', '', 'open', 100);
  insert into tasks (id, title, epic_id, parent_id, status, type, priority, claimed_by, claimed_at,
    attempts, last_error, created_at, updated_at, operator) values
    ('task-1', 'Done', 'epic-1', null, 'completed', '', 5, 'w', 9, 0, '', 100, 200, 'ann'),
    ('task-2', 'At work', 'epic-1', '', 'in_progress', 'bug', 7, 'w', 9, 1, 'red', 101, 200, ''),
    ('task-3', 'Waits', '', null, 'ready', 'other', 0, '', 0, 0, null, 102, 200, ''),
    ('task-4', 'Claimed', null, null, 'claimed', 'other', 0, 'w', 9, 0, null, 103, 200, ''),
    ('task-5', 'Odd', 'epic-gone', null, 'dreaming', 'other', 0, '', 0, 0, null, 104, 200, ''),
    ('task-6', 'Held', null, null, 'paused', 'other', 0, '', 0, 0, null, 105, 200, ''),
    ('task-2.1', 'Part', 'epic-1', 'task-2', 'blocked', 'other', 0, '', 0, 0, null, 106, 200, '');
  update tasks set sequence_number = 1 where id = 'task-2.1';
  insert into task_dependencies values
    ('task-2', 'task-1'), ('task-3', 'task-2'), ('task-4', 'task-1'), ('task-4', 'task-gone');
  insert into events values
    ('e2', 'task.completed', 150, 'task-1', 'epic-1', '{"worker":"w"}'),
    ('e1', 'task.claimed', 140, 'task-1', '', 'no json');
  insert into guidance_queue values ('g1', 'task-2', 'Look here', 120, 0), ('g2', 'gone', 'x', 120, 0);
  insert into plans values ('plan-1', 'task-1', 'Plan'), ('plan-2', 'task-gone', 'Lost');
`;

suite('a database of the Go tool', () => {
  let folder: string;
  let path: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-adopt-'));
    path = join(folder, 'drover.db');
  });
  teardown(() => removeFolder(folder));

  function make(...statements: readonly string[]): void {
    const database = new DatabaseSync(path);
    database.exec('pragma foreign_keys = off');
    for (const statement of statements) database.exec(statement);
    database.close();
  }

  const hash = (): string => createHash('sha256').update(readFileSync(path)).digest('hex');

  test('it is imported with its rows', async () => {
    make(goTables, goRows);
    const { store, backup, close } = await openStore(path, testSources(), { now: () => 5_000 });
    const extras = { config: () => ({}), targetBranch: null, shaOf: async () => null };
    const snapshot = await readSnapshot(store.db, {}, extras);
    assert.deepEqual(
      snapshot.tasks.map((task) => [
        task.id,
        task.status,
        task.type,
        task.epic_id,
        task.blocked_by,
        task.waits_for,
      ]),
      [
        ['task-1', 'completed', 'other', 'epic-1', [], []],
        ['task-2', 'ready', 'bug', 'epic-1', ['task-1'], []],
        ['task-3', 'blocked', 'other', null, ['task-2'], ['task-2']],
        ['task-4', 'ready', 'other', null, ['task-1'], []],
        ['task-5', 'needs_review', 'other', null, [], []],
        ['task-6', 'paused', 'other', null, [], []],
        ['task-2.1', 'ready', 'other', 'epic-1', [], []],
      ],
    );
    assert.equal(snapshot.tasks[1]?.last_error, 'red');
    assert.match(snapshot.tasks[4]?.last_error ?? '', /"dreaming" is not known/);
    const rows = await tablesOf(store.db)
      .selectFrom('tasks')
      .select(['id', 'claimed_by', 'operator', 'chain', 'parent_id', 'sequence_number'])
      .where('id', 'in', ['task-1', 'task-2', 'task-2.1'])
      .orderBy('position')
      .execute();
    assert.deepEqual(rows, [
      {
        id: 'task-1',
        claimed_by: null,
        operator: 'ann',
        chain: 3,
        parent_id: null,
        sequence_number: 0,
      },
      {
        id: 'task-2',
        claimed_by: null,
        operator: null,
        chain: 2,
        parent_id: null,
        sequence_number: 0,
      },
      {
        id: 'task-2.1',
        claimed_by: null,
        operator: null,
        chain: 2,
        parent_id: 'task-2',
        sequence_number: 1,
      },
    ]);
    const events = await store.feed.read({});
    assert.deepEqual(
      events.map(({ seq, type, task_id: task, data }) => [seq, type, task, data]),
      [
        [1, 'task.claimed', 'task-1', { text: 'no json' }],
        [2, 'task.completed', 'task-1', { worker: 'w' }],
        [3, 'database.adopted', null, { backup }],
      ],
    );
    const hints = await tablesOf(store.db).selectFrom('guidance_queue').select('id').execute();
    assert.deepEqual(hints, [{ id: 'g1' }]);
    await close();
    const after = new DatabaseSync(path);
    assert.deepEqual(
      after
        .prepare('select id from plans')
        .all()
        .map((row) => row['id']),
      ['plan-1'],
    );
    assert.equal(after.prepare('pragma user_version').get()?.['user_version'], schemaVersion);
    after.close();
  });

  test("it is copied first, and opened as Drover's database the second time", async () => {
    make(goTables, goRows);
    const first = await openStore(path, testSources());
    await first.store.transaction((tx) => addTask(tx, first.store.sources, { title: 'Ours' }));
    await first.close();
    const second = await openStore(path, testSources());
    assert.equal(second.backup, null);
    await second.close();
    const copies = readdirSync(folder).filter((name) => name.includes('backup'));
    assert.equal(copies.length, 1);
    const copy = new DatabaseSync(join(folder, copies[0] ?? ''), { readOnly: true });
    assert.equal(copy.prepare('select count(*) as n from tasks').get()?.['n'], 7);
    assert.equal(
      copy.prepare("select status from tasks where id = 'task-2'").get()?.['status'],
      'in_progress',
    );
    copy.close();
  });

  test('it may have only the public columns, and loops', async () => {
    make(
      `create table epics (id text primary key, title text not null, description text, status text,
         created_at integer not null);
       create table tasks (id text primary key, title text not null, description text, epic_id text,
         parent_id text, sequence_number integer, priority integer, status text, attempts integer,
         max_attempts integer, last_error text, claimed_by text, claimed_at integer,
         created_at integer not null, updated_at integer not null);
       create table task_dependencies (task_id text, blocked_by text);`,
      `insert into tasks (id, title, status, max_attempts, created_at, updated_at) values
         ('a', 'A', 'ready', 99, 1, 1), ('b', '', null, null, 2, 2);
       insert into task_dependencies values ('a', 'b'), ('b', 'a'), ('b', 'a');`,
    );
    const { store, close } = await openStore(path, testSources());
    const extras = { config: () => ({}), targetBranch: null, shaOf: async () => null };
    const { tasks, stuck } = await readSnapshot(store.db, {}, extras);
    assert.deepEqual(
      tasks.map((task) => [task.id, task.title, task.status, task.max_attempts]),
      [
        ['a', 'A', 'blocked', 10],
        ['b', '(no title)', 'blocked', 3],
      ],
    );
    assert.deepEqual(
      stuck.map((view) => view.id),
      ['a', 'b'],
    );
    await close();
  });

  const refused: readonly [string, readonly string[], RegExp][] = [
    ['of another program', ['create table notes (id text)'], /tables of another program \(notes\)/],
    [
      'with an id that is no folder name',
      [
        goTables,
        "insert into tasks (id, title, created_at, updated_at) values ('../x', 'X', 1, 1)",
      ],
      /task id "..\/x"/,
    ],
    ['of a newer Drover', [goTables, 'pragma user_version = 99'], /version 99/],
  ];
  for (const [name, statements, message] of refused) {
    test(`it is refused when it is one ${name}`, async () => {
      make('pragma journal_mode = wal', ...statements);
      const before = hash();
      const refusal = await refusalOf(openStore(path, testSources()));
      assert.match(refusal.message, message);
      assert.match(refusal.message, /nothing was changed/);
      assert.equal(hash(), before);
      assert.deepEqual(
        readdirSync(folder).filter((file) => file.includes('backup')),
        [],
      );
    });
  }
});
