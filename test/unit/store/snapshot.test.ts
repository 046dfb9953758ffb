// The snapshot: its exact keys, its counts, its scope, and why tasks wait or are stuck.

import assert from 'node:assert/strict';
import { addEpic } from '../../../server/store/plan/epics.ts';
import { askQuestion } from '../../../server/store/work/questions.ts';
import { showEpic, showTask } from '../../../server/store/board/show.ts';
import { readSnapshot, type SnapshotExtras } from '../../../server/store/board/snapshot.ts';
import {
  addAttempt,
  addTasks,
  memoryStore,
  moveTask,
  refusalOf,
  testStartMs,
  type TestStore,
} from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

const extras: SnapshotExtras = {
  config: () => ({ max_workers: { value: 3, source: 'default' } }),
  targetBranch: 'main',
  shaOf: async (branch) => (branch === 'main' ? 'a'.repeat(40) : null),
};

const taskKeys =
  'id title description epic_id parent_id type status priority labels blocked_by waits_for blocked_reason ' +
  'review_kind attempts max_attempts next_attempt_at waiting_until phase agent base_sha branch commit_sha ' +
  'landed_sha worktree_path conflict_files held_files verdict verdict_reason last_error ' +
  'acceptance_criteria gate cost created_at updated_at warnings';

suite('snapshot', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  test('it is complete when the project is empty', async () => {
    const snapshot = await readSnapshot(project.store.db, {}, extras);
    assert.deepEqual(Object.keys(snapshot), [
      'seq',
      'counts',
      'progress',
      'run',
      'target',
      'config',
      'epics',
      'tasks',
      'stuck',
      'questions',
      'holds',
    ]);
    assert.deepEqual([snapshot.seq, snapshot.counts.total, snapshot.progress], [0, 0, 0]);
    assert.equal(snapshot.run, null);
    assert.deepEqual(snapshot.target, { branch: 'main', sha: 'a'.repeat(40), pending: 0 });
  });

  test('it has every key of a task, with times in seconds and nothing undefined', async () => {
    const { A = '' } = await addTasks(project, [{ title: 'A', labels: ['x'], accept: ['y'] }]);
    await moveTask(project, A, ['claimed', 'in_progress', 'ready'], {
      next_attempt_at_ms: testStartMs + 1,
      attempts: 1,
      last_error: 'red',
      conflict_files: '["a.txt"]',
    });
    const { tasks, seq } = await readSnapshot(project.store.db, {}, extras);
    const [task] = tasks;
    const keys = Object.keys(task ?? {});
    for (const key of taskKeys.split(' ')) assert.ok(keys.includes(key), key);
    assert.ok(!Object.values(task ?? {}).includes(undefined as never));
    assert.equal(task?.next_attempt_at, testStartMs / 1000 + 1);
    assert.deepEqual(
      [task?.labels, task?.acceptance_criteria, task?.conflict_files, task?.held_files],
      [['x'], ['y'], ['a.txt'], []],
    );
    assert.equal(seq, await project.store.feed.lastSeq());
    assert.deepEqual(await showTask(project.store.db, A), task);
  });

  test('it counts tasks for the whole project and for an epic', async () => {
    const epic = await project.store.transaction((tx) =>
      addEpic(tx, project.sources, { title: 'E' }),
    );
    const ids = await addTasks(project, [
      { title: 'A', epic: epic.id },
      { title: 'B', epic: epic.id },
      { title: 'C', epic: epic.id },
      { title: 'D', epic: epic.id },
      { title: 'X' },
    ]);
    const { A = '', B = '' } = ids;
    await moveTask(project, A, ['claimed', 'in_progress', 'completed']);
    await moveTask(project, B, ['cancelled']);
    const all = await readSnapshot(project.store.db, {}, extras);
    assert.deepEqual([all.counts.total, all.counts.ready, all.progress], [5, 3, 25]);
    const scoped = await readSnapshot(project.store.db, { epic: epic.id }, extras);
    assert.deepEqual([scoped.counts.total, scoped.progress, scoped.tasks.length], [4, 33, 4]);
    assert.deepEqual(
      scoped.epics.map((view) => [view.id, view.progress]),
      [[epic.id, 33]],
    );
    const shown = await showEpic(project.store.db, epic.id);
    assert.deepEqual([shown.counts, shown.tasks.length], [scoped.counts, 4]);
    const unknown = await refusalOf(readSnapshot(project.store.db, { epic: 'none' }, extras));
    assert.equal(unknown.kind, 'unknown_id');
  });

  test('it shows the last run, and the branch with the landed work', async () => {
    const land = 'task' as const;
    const run = { workers: 2, land, line: 'main', base_sha: 'b'.repeat(40), flags: '{}' };
    await tablesOf(project.store.db)
      .insertInto('runs')
      .values([
        { ...run, id: 'run-1', state: 'finished', started_at_ms: 1_500, target_branch: 'old' },
        { ...run, id: 'run-2', state: 'active', started_at_ms: 2_500, target_branch: 'main' },
      ])
      .execute();
    const before = await readSnapshot(project.store.db, {}, extras);
    assert.deepEqual(before.run, {
      id: 'run-2',
      active: true,
      started_at: 2,
      ended_at: null,
      target_branch: 'main',
      result_branch: 'main',
      base_sha: 'b'.repeat(40),
      workers: 2,
      epic_id: null,
      land: 'task',
    });
    await tablesOf(project.store.db)
      .insertInto('lines')
      .values({ branch: 'main', landed_sha: 'c'.repeat(40), pending: 2 })
      .execute();
    const after = await readSnapshot(project.store.db, {}, extras);
    assert.equal(after.run?.result_branch, 'drover/results/main');
    assert.equal(after.target?.pending, 2);
  });

  test('it shows running tasks and their questions', async () => {
    const { A = '' } = await addTasks(project, [{ title: 'A' }]);
    await moveTask(project, A, ['claimed', 'in_progress'], { phase: 'agent' });
    await addAttempt(project, A, { agent: 'command', started_at_ms: testStartMs + 1_999 });
    await project.store.transaction((tx) =>
      askQuestion(tx, project.sources, {
        taskId: A,
        attempt: 1,
        requestId: 'r',
        kind: 'permission',
        text: 'May I?',
        choices: ['yes', 'no'],
      }),
    );
    const { tasks, questions } = await readSnapshot(project.store.db, {}, extras);
    const [task] = tasks;
    assert.deepEqual(
      [task?.phase, task?.agent, task?.started_at],
      ['agent', 'command', testStartMs / 1000 + 1],
    );
    assert.deepEqual(
      questions.map((question) => [question.task_id, question.text, question.choices]),
      [[A, 'May I?', ['yes', 'no']]],
    );
  });
});

suite('snapshot: stuck', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  const stuck = async (): Promise<readonly (readonly [string, readonly string[], string])[]> => {
    const snapshot = await readSnapshot(project.store.db, {}, extras);
    const titles = new Map(snapshot.tasks.map((task) => [task.id, task.title]));
    const named = (text: string): string =>
      text.replace(/task-[a-z0-9.]+/g, (id) => titles.get(id) ?? id);
    return snapshot.stuck.map((view) => [
      named(view.id),
      view.waits_for.map(named),
      named(view.reason),
    ]);
  };

  test('it is empty while every task can continue', async () => {
    const { A = '' } = await addTasks(project, [{ title: 'A' }, { title: 'B', blocked_by: ['A'] }]);
    assert.deepEqual(await stuck(), []);
    await moveTask(project, A, ['claimed', 'in_progress', 'waiting']);
    assert.deepEqual(await stuck(), []);
  });

  const ends: readonly [string, Parameters<typeof moveTask>[2], string][] = [
    ['failed', ['claimed', 'in_progress', 'failed'], 'A has failed; use "drover retry A".'],
    [
      'cancelled',
      ['cancelled'],
      'A is cancelled; run "drover retry A", or remove it as a blocker.',
    ],
    [
      'in conflict',
      ['claimed', 'in_progress', 'conflict'],
      'A is in conflict with landed work; use "drover retry A".',
    ],
    [
      'to review',
      ['claimed', 'in_progress', 'needs_review'],
      'A waits for a review; use "drover approve A" or "drover send-back A".',
    ],
    ['paused', ['paused'], 'A is paused; use "drover unpause A".'],
  ];
  for (const [name, statuses, reason] of ends) {
    test(`it names a blocker that is ${name}, and the tasks that wait for it`, async () => {
      const { A = '' } = await addTasks(project, [
        { title: 'A' },
        { title: 'B', blocked_by: ['A'] },
        { title: 'C', blocked_by: ['B'] },
        { title: 'D' },
      ]);
      await moveTask(project, A, statuses);
      assert.deepEqual(await stuck(), [
        ['B', ['A'], reason],
        ['C', ['B'], `It waits for B, which in the end waits for A: ${reason}`],
      ]);
    });
  }

  test('it lists externally blocked tasks', async () => {
    const { A = '' } = await addTasks(project, [{ title: 'A' }, { title: 'B', blocked_by: ['A'] }]);
    await moveTask(project, A, ['claimed', 'in_progress', 'blocked'], {
      blocked_reason: 'no licence',
    });
    const reason = 'A is blocked from outside (no licence); use "drover resolve A".';
    assert.deepEqual(await stuck(), [
      ['A', [], reason],
      ['B', ['A'], reason],
    ]);
  });

  test('it treats a sub-task as a part of its parent', async () => {
    const { P = '' } = await addTasks(project, [
      { title: 'P' },
      { title: 'S', parent: 'P' },
      { title: 'Q' },
      { title: 'T', parent: 'Q', blocked_by: ['S'] },
    ]);
    const before = await readSnapshot(project.store.db, {}, extras);
    assert.deepEqual(
      before.tasks.map((task) => [task.title, task.status, task.waits_for.length]),
      [
        ['P', 'ready', 0],
        ['S', 'ready', 0],
        ['Q', 'blocked', 1],
        ['T', 'blocked', 1],
      ],
    );
    await moveTask(project, P, ['claimed', 'in_progress', 'failed']);
    assert.deepEqual(
      (await stuck()).map(([id, waits]) => [id, waits]),
      [
        ['Q', ['S']],
        ['T', ['S']],
      ],
    );
  });

  test('it finds loops from an imported file', async () => {
    const { A = '', B = '' } = await addTasks(project, [
      { title: 'A' },
      { title: 'B', blocked_by: ['A'] },
      { title: 'C', blocked_by: ['B'] },
    ]);
    await tablesOf(project.store.db)
      .insertInto('task_dependencies')
      .values({ task_id: A, blocked_by: B })
      .execute();
    await moveTask(project, A, ['blocked']);
    assert.deepEqual(
      (await stuck()).map(([id, , reason]) => [id, /in a loop/.test(reason)]),
      [
        ['A', true],
        ['B', true],
        ['C', true],
      ],
    );
  });
});
