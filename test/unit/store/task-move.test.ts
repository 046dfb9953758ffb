// Moving and removing tasks: the resulting order and the refusals, which change nothing.

import assert from 'node:assert/strict';
import { startableTasks } from '../../../server/store/work/startable.ts';
import { moveEpic, removeEpic } from '../../../server/store/plan/epic-place.ts';
import { addEpic } from '../../../server/store/plan/epics.ts';
import { readEpics } from '../../../server/store/board/snapshot.ts';
import { moveTasks, type TaskMove } from '../../../server/store/plan/task-move.ts';
import { Removals, restoreRemoved, type RemovedTask } from '../../../server/store/plan/restore.ts';
import type { EpicRow } from '../../../server/store/schema/tables.ts';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { removeTasks } from '../../../server/store/plan/task-remove.ts';
import {
  addTasks,
  everything,
  memoryStore,
  moveTask,
  refusalOf,
  type TestStore,
} from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('moving tasks', () => {
  let project: TestStore;
  let ids: Readonly<Record<string, string>>;
  setup(async () => {
    project = await memoryStore();
    ids = await addTasks(project, [
      { title: 'A' },
      { title: 'B' },
      { title: 'C' },
      { title: 'D' },
      { title: 'D1', parent: 'D' },
      { title: 'D2', parent: 'D' },
      { title: 'D3', parent: 'D', blocked_by: ['A'] },
    ]);
  });
  teardown(() => project.close());

  const idOf = (title: string): string => ids[title] ?? title;
  const idsOf = (titles: string): string[] => titles.split(' ').map(idOf);

  async function move(titles: string, where: Partial<TaskMove> = {}): Promise<void> {
    const before = where.before === undefined || where.before === null ? null : idOf(where.before);
    const parent = typeof where.parent === 'string' ? { parent: idOf(where.parent) } : {};
    const given = { ...where, ...parent, ids: idsOf(titles), before };
    await project.store.transaction((tx) => moveTasks(tx, project.sources, given));
  }

  /** Titles in the order of the board; sub-tasks are left out unless their parent is named. */
  async function order(parent: string | null = null): Promise<string> {
    const rows = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select('title')
      .where('parent_id', parent === null ? 'is' : '=', parent === null ? null : idOf(parent))
      .orderBy('position')
      .execute();
    return rows.map((row) => row.title).join(' ');
  }

  const moves: readonly [string, string | null, string][] = [
    ['C', 'A', 'C A B D'],
    ['C', 'B', 'A C B D'],
    ['A', null, 'B C D A'],
    ['D B', 'A', 'D B A C'],
    ['B D', 'C', 'A B D C'],
    ['A', 'A', 'A B C D'],
    ['A B', 'A', 'A B C D'],
    ['B A', 'A', 'B A C D'],
    ['C D', 'D', 'A B C D'],
    ['D C B A', null, 'D C B A'],
  ];
  for (const [titles, before, expected] of moves) {
    test(`${titles} moves in front of ${before ?? 'nothing'}: ${expected}`, async () => {
      await move(titles, { before });
      assert.equal(await order(), expected);
    });
  }

  test('tasks start in the order that people set', async () => {
    project.sources.nowMs += 60_000;
    await addTasks(project, [{ title: 'E' }]);
    await tablesOf(project.store.db).updateTable('tasks').set({ chain: 1 }).execute();
    const starts = async (): Promise<string> => {
      const look = { epicId: null, nowMs: project.sources.nowMs, limit: 10 };
      const found = await startableTasks(project.store.db, look);
      const titles = await tablesOf(project.store.db)
        .selectFrom('tasks')
        .select(['id', 'title'])
        .execute();
      return found.map(({ id }) => titles.find((row) => row.id === id)?.title).join(' ');
    };
    assert.equal(await starts(), 'A B C E');
    const e = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select('id')
      .where('title', '=', 'E')
      .executeTakeFirstOrThrow();
    await move(e.id, { before: 'B' });
    assert.equal(await starts(), 'A E B C');
  });

  test('moving to the same place repeatedly keeps the order correct', async () => {
    for (let round = 0; round < 60; round += 1) {
      await move(round % 2 === 0 ? 'C' : 'D', { before: 'B' });
      assert.equal(
        await order(),
        round % 2 === 0 && round > 0 ? 'A D C B' : round === 0 ? 'A C B D' : 'A C D B',
      );
    }
    const rows = await tablesOf(project.store.db).selectFrom('tasks').select('position').execute();
    assert.equal(new Set(rows.map((row) => row.position)).size, rows.length);
    const events = await project.store.feed.read({ type: 'tasks.renumbered' });
    assert.ok(events.length > 0, 'there was no room any more, and room was made');
  });

  test('a task moves into an epic and out of it, with its sub-tasks', async () => {
    const { store, sources } = project;
    const epic = await store.transaction((tx) => addEpic(tx, sources, { title: 'E' }));
    await move('D A', { epic: epic.id, before: 'B' });
    const inside = await tablesOf(store.db)
      .selectFrom('tasks')
      .select('title')
      .where('epic_id', '=', epic.id)
      .orderBy('title')
      .execute();
    assert.deepEqual(
      inside.map((row) => row.title),
      ['A', 'D', 'D1', 'D2', 'D3'],
    );
    assert.equal(await order(), 'D A B C');
    await move('D', { epic: null });
    assert.equal(await order(), 'A B C D');
    const [left] = await readEpics(store.db);
    assert.equal(left?.counts.total, 1);
    const moved = await store.feed.read({ type: 'task.moved' });
    assert.deepEqual(
      moved.map((event) => [event.task_id, event.epic_id]),
      [
        [idOf('D'), epic.id],
        [idOf('A'), epic.id],
        [idOf('D'), null],
      ],
    );
  });

  test('a task moves below another task and out again', async () => {
    await move('B C', { parent: 'D', before: 'D2' });
    assert.deepEqual([await order(), await order('D')], ['A D', 'D1 B C D2 D3']);
    await move('B', { parent: null });
    assert.deepEqual([await order(), await order('D')], ['A D B', 'D1 C D2 D3']);
  });

  test('sub-tasks run in order', async () => {
    await move('D3', { before: 'D1' });
    const rows = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['title', 'sequence_number'])
      .where('parent_id', '=', idOf('D'))
      .orderBy('sequence_number')
      .execute();
    assert.deepEqual(
      rows.map((row) => [row.title, row.sequence_number]),
      [
        ['D3', 1],
        ['D1', 2],
        ['D2', 3],
      ],
    );
  });

  const refused: readonly [string, string, Partial<TaskMove>, RegExp][] = [
    ['nothing', ' ', {}, /Task ""|Nothing/],
    ['an unknown task', 'A none', { before: 'B' }, /Task "none" does not exist/],
    ['in front of an unknown task', 'A', { before: 'none' }, /Task "none" does not exist/],
    ['into an unknown epic', 'A B', { epic: 'none' }, /Epic "none" does not exist/],
    ['below itself', 'A D', { parent: 'D1' }, /levels|itself/],
    ['a sub-task into an epic of its own', 'A D1', { epic: 'e' }, /Epic "e"|parent/],
  ];
  for (const [name, titles, where, message] of refused) {
    test(`a move is refused, and nothing is changed: ${name}`, async () => {
      const before = await everything(project);
      const refusal = await refusalOf(move(titles, where));
      assert.match(refusal.message, message);
      assert.equal(await everything(project), before);
    });
  }
});

suite('removing', () => {
  let project: TestStore;
  let ids: Readonly<Record<string, string>>;
  setup(async () => {
    project = await memoryStore();
    ids = await addTasks(project, [
      { title: 'A' },
      { title: 'B', blocked_by: ['A'] },
      { title: 'D' },
      { title: 'D1', parent: 'D', blocked_by: ['B'] },
      { title: 'E' },
    ]);
  });
  teardown(() => project.close());

  const taken = (titles: string): Promise<readonly RemovedTask[]> =>
    project.store.transaction((tx) =>
      removeTasks(
        tx,
        project.sources,
        titles.split(' ').map((title) => ids[title] ?? title),
      ),
    );
  const remove = async (titles: string): Promise<readonly string[]> =>
    (await taken(titles)).map(({ row }) => row.id);

  async function left(): Promise<string> {
    const rows = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['title', 'status', 'chain'])
      .orderBy('position')
      .execute();
    return rows.map((row) => `${row.title} ${row.status} ${row.chain}`).join(', ');
  }

  test('a removed sub-task no longer holds its parent', async () => {
    assert.equal(await left(), 'A ready 3, B blocked 2, D blocked 1, D1 blocked 1, E ready 1');
    assert.deepEqual(await remove('D1'), [ids['D1']]);
    assert.equal(await left(), 'A ready 2, B blocked 1, D ready 1, E ready 1');
  });

  test('sub-tasks move with their parent, and dependents may move together', async () => {
    assert.deepEqual(await remove('D'), [ids['D'], ids['D1']]);
    await remove('A B');
    assert.equal(await left(), 'E ready 1');
    const events = await project.store.feed.read({ type: 'task.removed' });
    assert.equal(events.length, 4);
  });

  const refused: readonly [string, string, RegExp][] = [
    ['something waits for it', 'E A', /waits for/],
    ['one of them is unknown', 'E none', /Task "none" does not exist/],
    ['it has a history', 'E B', /completed and has a history/],
    ['its sub-task has one', 'E D', /has a history/],
  ];
  for (const [name, titles, message] of refused) {
    test(`a removal is refused completely: ${name}`, async () => {
      if (message.source.includes('history')) {
        for (const title of ['A', 'B']) {
          await moveTask(project, ids[title] ?? '', ['claimed', 'in_progress', 'completed']);
        }
        await moveTask(project, ids['D1'] ?? '', ['claimed', 'in_progress', 'completed']);
      }
      const before = await everything(project);
      assert.match((await refusalOf(remove(titles))).message, message);
      assert.equal(await everything(project), before);
    });
  }

  test('a removal is undone with ids, texts, order, sub-tasks and dependencies', async () => {
    const { store, sources } = project;
    await store.transaction((tx) =>
      editTask(tx, sources, ids['B'] ?? '', { description: 'Words', accept: ['It works'] }),
    );
    const rows = async (): Promise<string> => {
      const tasks = await tablesOf(store.db)
        .selectFrom('tasks')
        .selectAll()
        .orderBy('id')
        .execute();
      const edges = await tablesOf(store.db)
        .selectFrom('task_dependencies')
        .selectAll()
        .orderBy('task_id')
        .execute();
      return JSON.stringify([tasks, edges]);
    };
    const before = await rows();
    const removals = new Removals();
    removals.keep({ epics: [], tasks: await taken('D') });
    removals.keep({ epics: [], tasks: await taken('B') });
    assert.equal(await left(), 'A ready 1, E ready 1');
    const restore = (titles: string): Promise<void> =>
      store.transaction((tx) => {
        const found = removals.find(titles.split(' ').map((title) => ids[title] ?? title));
        return restoreRemoved(tx, sources, found);
      });
    await restore('B');
    await restore('D D1');
    assert.equal(await rows(), before);
    assert.match((await refusalOf(restore('B'))).message, /exists already/);
    assert.match((await refusalOf(restore('E'))).message, /can no longer be undone/);
    assert.equal(await rows(), before);
  });

  test('a sub-task of a running task is refused', async () => {
    for (const title of ['A', 'B']) {
      await moveTask(project, ids[title] ?? '', ['claimed', 'in_progress', 'completed']);
    }
    await moveTask(project, ids['D'] ?? '', ['claimed', 'in_progress']);
    assert.match((await refusalOf(remove('D1'))).message, /is a sub-task of .*, which is running/);
  });
});

suite('epics', () => {
  test('epics are moved, and removed when they are empty', async () => {
    const project = await memoryStore();
    const { store, sources } = project;
    const ids: string[] = [];
    for (const title of ['A', 'B', 'C']) {
      ids.push((await store.transaction((tx) => addEpic(tx, sources, { title }))).id);
    }
    const [a = '', b = '', c = ''] = ids;
    const order = async (): Promise<string> =>
      (await readEpics(store.db)).map((epic) => epic.title).join(' ');
    const move = (id: string, before: string | null): Promise<void> =>
      store.transaction((tx) => moveEpic(tx, sources, id, before));
    await move(c, a);
    assert.equal(await order(), 'C A B');
    await move(c, null);
    await move(b, b);
    assert.equal(await order(), 'A B C');
    assert.equal((await refusalOf(move('none', null))).kind, 'unknown_id');
    assert.equal((await refusalOf(move(a, 'none'))).kind, 'unknown_id');
    await addTasks(project, [{ title: 'T', epic: b }]);
    const remove = (id: string): Promise<EpicRow> =>
      store.transaction((tx) => removeEpic(tx, sources, id));
    assert.match((await refusalOf(remove(b))).message, /holds 1 task;/);
    await remove(a);
    assert.equal(await order(), 'B C');
    assert.equal((await refusalOf(remove(a))).kind, 'unknown_id');
    await project.close();
  });
});
