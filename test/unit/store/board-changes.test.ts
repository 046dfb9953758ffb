// Whatever happens, a board that is updated by changes equals the board that is read anew.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Refusal } from '../../../server/core/failure.ts';
import { taskStatuses, type TaskStatus } from '../../../server/core/plan/state.ts';
import type { StatusSnapshot } from '../../../server/protocol/api.ts';
import { applyChanges } from '../../../server/protocol/board.ts';
import { packTasks, unpackTasks, type PackedTasks } from '../../../server/protocol/packed-tasks.ts';
import { readChanges } from '../../../server/store/board/board-changes.ts';
import { moveEpic, removeEpic } from '../../../server/store/plan/epic-place.ts';
import { addEpic, closeEpic, editEpic } from '../../../server/store/plan/epics.ts';
import { setHolds } from '../../../server/store/status/holds.ts';
import { importFile } from '../../../server/store/exchange/imports.ts';
import { askQuestion } from '../../../server/store/work/questions.ts';
import { readSnapshot, type SnapshotExtras } from '../../../server/store/board/snapshot.ts';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { moveTasks } from '../../../server/store/plan/task-move.ts';
import { removeTasks } from '../../../server/store/plan/task-remove.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import { addTasks, drawn, memoryStore, moveTask, type TestStore } from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

const extras: SnapshotExtras = {
  config: () => ({}),
  targetBranch: 'main',
  shaOf: async () => 'a'.repeat(40),
};

type Step =
  | {
      readonly kind: 'add';
      readonly blockers: readonly number[];
      readonly parent: number | null;
      readonly epic: number | null;
    }
  | { readonly kind: 'block' | 'unblock'; readonly task: number; readonly blocker: number }
  | { readonly kind: 'parent'; readonly task: number; readonly parent: number | null }
  | { readonly kind: 'epic'; readonly task: number; readonly epic: number | null }
  | { readonly kind: 'title' | 'ask' | 'outside'; readonly task: number }
  | { readonly kind: 'go'; readonly task: number; readonly to: TaskStatus }
  | {
      readonly kind: 'move';
      readonly tasks: readonly number[];
      readonly before: number | null;
      readonly parent: number | null | undefined;
    }
  | { readonly kind: 'remove'; readonly tasks: readonly number[] }
  | { readonly kind: 'move epic'; readonly epic: number; readonly before: number | null }
  | { readonly kind: 'remove epic'; readonly epic: number }
  | { readonly kind: 'add epic' }
  | { readonly kind: 'edit epic' | 'close epic'; readonly epic: number }
  | { readonly kind: 'import'; readonly lines: readonly (readonly number[])[] };

/** No step sets `blocked`: that follows from blockers or from an outside cause. */
const goneTo = taskStatuses.filter((status) => status !== 'blocked');

const index = fc.nat({ max: 11 });
const maybe = fc.option(index, { freq: 2 });
const kind = <K extends Step['kind']>(name: K): fc.Arbitrary<K> => fc.constant(name);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: kind('add'),
      blockers: fc.array(index, { maxLength: 2 }),
      parent: maybe,
      epic: maybe,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('block'), task: index, blocker: index }) },
  fc.record({ kind: kind('unblock'), task: index, blocker: index }),
  { weight: 2, arbitrary: fc.record({ kind: kind('parent'), task: index, parent: maybe }) },
  fc.record({ kind: kind('epic'), task: index, epic: maybe }),
  fc.record({ kind: fc.constantFrom('title', 'ask', 'outside' as const), task: index }),
  {
    weight: 8,
    arbitrary: fc.record({ kind: kind('go'), task: index, to: fc.constantFrom(...goneTo) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: kind('move'),
      tasks: fc.array(index, { minLength: 1, maxLength: 3 }),
      before: maybe,
      parent: fc.option(maybe, { nil: undefined }),
    }),
  },
  fc.record({ kind: kind('remove'), tasks: fc.array(index, { minLength: 1, maxLength: 2 }) }),
  fc.record({ kind: kind('move epic'), epic: index, before: maybe }),
  fc.record({ kind: kind('remove epic'), epic: index }),
  fc.record({ kind: kind('add epic') }),
  fc.record({ kind: fc.constantFrom('edit epic', 'close epic' as const), epic: index }),
  fc.record({
    kind: kind('import'),
    lines: fc.array(fc.array(fc.nat({ max: 3 }), { maxLength: 2 }), {
      minLength: 1,
      maxLength: 4,
    }),
  }),
);

async function allIds(project: TestStore, table: 'tasks' | 'epics'): Promise<readonly string[]> {
  const rows = await tablesOf(project.store.db)
    .selectFrom(table)
    .select('id')
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}

async function apply(project: TestStore, one: Step): Promise<void> {
  const { store, sources } = project;
  const tasks = await allIds(project, 'tasks');
  const epics = await allIds(project, 'epics');
  const pick = (ids: readonly string[], number: number | null): string | null =>
    number === null ? null : (ids[number % Math.max(ids.length, 1)] ?? null);
  const task = (number: number): string => pick(tasks, number) ?? 'none';
  sources.nowMs += 1_000;
  if (one.kind === 'import') return importLines(project, one.lines);
  await store.transaction(async (tx) => {
    switch (one.kind) {
      case 'add': {
        const blocked_by = tasks.length === 0 ? [] : one.blockers.map(task);
        const parent = pick(tasks, one.parent);
        const epic = parent === null ? { epic: pick(epics, one.epic) } : {};
        await addTask(tx, sources, { title: 'Do it', blocked_by, parent, ...epic });
        return;
      }
      case 'block':
        await editTask(tx, sources, task(one.task), { add_blockers: [task(one.blocker)] });
        return;
      case 'unblock':
        await editTask(tx, sources, task(one.task), { remove_blockers: [task(one.blocker)] });
        return;
      case 'parent':
        await editTask(tx, sources, task(one.task), { parent: pick(tasks, one.parent) });
        return;
      case 'epic':
        await editTask(tx, sources, task(one.task), { epic: pick(epics, one.epic) });
        return;
      case 'title':
        await editTask(tx, sources, task(one.task), { title: `At ${sources.nowMs}` });
        return;
      case 'ask': {
        if (tasks.length === 0) return;
        const question = { requestId: String(sources.nowMs), kind: 'question', text: 'So?' };
        const about = { taskId: task(one.task), attempt: 1, choices: ['yes'] };
        await askQuestion(tx, sources, { ...question, ...about });
        return;
      }
      case 'outside':
        await store.transition(tx, {
          taskId: task(one.task),
          to: 'blocked',
          from: ['in_progress'],
          event: 'task.blocked',
          set: { blocked_reason: 'the network' },
        });
        return;
      case 'go':
        await store.transition(tx, {
          taskId: task(one.task),
          to: one.to,
          event: `task.${one.to}`,
          set: { last_error: one.to === 'failed' ? 'it broke' : null },
        });
        return;
      case 'move': {
        const parent = one.parent === undefined ? {} : { parent: pick(tasks, one.parent) };
        const before = pick(tasks, one.before);
        await moveTasks(tx, sources, { ids: one.tasks.map(task), before, ...parent });
        return;
      }
      case 'remove':
        await removeTasks(tx, sources, one.tasks.map(task));
        return;
      case 'move epic':
        await moveEpic(tx, sources, pick(epics, one.epic) ?? 'none', pick(epics, one.before));
        return;
      case 'remove epic':
        await removeEpic(tx, sources, pick(epics, one.epic) ?? 'none');
        return;
      case 'add epic':
        await addEpic(tx, sources, { title: 'Epic' });
        return;
      case 'edit epic':
        await editEpic(tx, sources, pick(epics, one.epic) ?? 'none', { title: `E${one.epic}` });
        return;
      case 'close epic':
        await closeEpic(tx, sources, pick(epics, one.epic) ?? 'none');
    }
  });
}

/** A file of another tool may bring dependency loops; importing it again changes them. */
async function importLines(
  project: TestStore,
  lines: readonly (readonly number[])[],
): Promise<void> {
  const records = lines.map((blockers, at) => ({
    id: `bd-${at}`,
    title: `Record ${at} ${blockers.length}`,
    status: 'open',
    issue_type: 'task',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    dependencies: blockers
      .filter((blocker) => blocker < lines.length && blocker !== at)
      .map((blocker) => ({
        issue_id: `bd-${at}`,
        depends_on_id: `bd-${blocker}`,
        type: 'blocks',
      })),
  }));
  await importFile(project.store, {
    text: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    badUtf8Lines: [],
    file: 'issues.jsonl',
    format: 'beads',
    dryRun: false,
    update: true,
    rename: false,
    skipInvalid: true,
    maxAttempts: 3,
    knowsCommits: async () => true,
  });
}

async function snapshot(project: TestStore): Promise<StatusSnapshot> {
  return readSnapshot(project.store.db, {}, extras);
}

suite('changes of the board', () => {
  test('applying them along any history gives the same board as reading it', async () => {
    const steps = fc.array(fc.tuple(step, fc.boolean()), { minLength: 5, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const project = await memoryStore();
        let board = await snapshot(project);
        for (const [one, looks] of history) {
          try {
            await apply(project, one);
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
          }
          if (!looks) continue;
          const changes = await readChanges(project.store.db, board.seq, extras);
          const next = applyChanges(board, changes);
          assert.ok(next !== null);
          board = next;
          assert.deepEqual(board, await snapshot(project));
          assert.deepEqual(applyChanges(board, changes), board, 'twice is the same as once');
          const packed = JSON.parse(JSON.stringify(packTasks(board.tasks))) as PackedTasks;
          assert.deepEqual(unpackTasks(packed), board.tasks, 'the way to a panel changes nothing');
        }
        await project.close();
      }),
      { numRuns: drawn(60) },
    );
  });

  test('a long chain is followed, even when it is extended, cut and given sub-tasks', async () => {
    const project = await memoryStore();
    const links = Array.from({ length: 30 }, (_, at) => ({
      title: `L${at}`,
      ...(at === 0 ? {} : { blocked_by: [`L${at - 1}`] }),
    }));
    const ids = await addTasks(project, [
      ...links,
      { title: 'P' },
      { title: 'P1', parent: 'P', blocked_by: ['L29'] },
      { title: 'Q', blocked_by: ['P'] },
    ]);
    const id = (title: string): string => ids[title] ?? '';
    let board = await snapshot(project);
    const follow = async (stuck: number): Promise<void> => {
      const next = applyChanges(board, await readChanges(project.store.db, board.seq, extras));
      assert.ok(next !== null);
      board = next;
      assert.deepEqual(board, await snapshot(project));
      assert.equal(board.stuck.length, stuck);
    };
    const cut = (how: 'add_blockers' | 'remove_blockers'): Promise<unknown> =>
      project.store.transaction((tx) =>
        editTask(tx, project.sources, id('L15'), { [how]: [id('L14')] }),
      );
    await moveTask(project, id('L0'), ['paused']);
    await follow(32);
    await cut('remove_blockers');
    await follow(14);
    await cut('add_blockers');
    await follow(32);
    await moveTask(project, id('L0'), ['ready']);
    await follow(0);
    await project.close();
  });

  test('settings that are accepted during a read are sent with the start of their run', async () => {
    const project = await memoryStore();
    const { store } = project;
    let workers = 2;
    const config = () => ({ max_workers: { value: workers, source: 'project' as const } });
    const live: SnapshotExtras = { ...extras, config };
    const before = await readSnapshot(store.db, {}, live);
    await store.transaction((tx) => store.append(tx, { type: 'run.started' }));
    const reads = [
      readChanges(store.db, before.seq, live),
      readSnapshot(store.db, {}, live),
    ] as const;
    workers = 3;
    const [changes, board] = await Promise.all(reads);
    assert.equal(changes.config?.['max_workers']?.value, 3);
    assert.equal(board.config['max_workers']?.value, 3);
    await project.close();
  });

  test('reasons that prevent new starts are sent while a run is active', async () => {
    const project = await memoryStore();
    const { store, sources } = project;
    const reason = 'The money of this day is used up.';
    const hold = { scope: 'day', reason, untilMs: null };
    let board = await snapshot(project);
    const told: number[] = [];
    const look = async (): Promise<void> => {
      const next = applyChanges(board, await readChanges(store.db, board.seq, extras));
      assert.ok(next !== null);
      board = next;
      assert.deepEqual(board, await snapshot(project));
      told.push(board.holds.length);
    };
    await store.transaction((tx) => setHolds(tx, sources, [hold]));
    await look();
    await store.transaction(async (tx) => {
      await tablesOf(tx)
        .insertInto('runs')
        .values({
          id: 'run-all',
          state: 'active',
          started_at_ms: sources.nowMs,
          workers: 2,
          land: 'task',
          target_branch: 'main',
          line: 'main',
          base_sha: 'a'.repeat(40),
          flags: '{}',
        })
        .execute();
      await store.append(tx, { type: 'run.started' });
    });
    await look();
    await store.transaction((tx) => setHolds(tx, sources, []));
    await look();
    assert.deepEqual(told, [0, 1, 0]);
    await project.close();
  });

  test('a board that is far behind, or of another feed, is replaced', async () => {
    const project = await memoryStore();
    const { A: id = '' } = await addTasks(project, [{ title: 'A' }]);
    const { db } = project.store;
    const ahead = await readChanges(db, 99, extras);
    assert.equal(ahead.snapshot?.seq, 1);
    await project.store.transaction(async (tx) => {
      for (let count = 0; count < 2_001; count += 1) {
        await project.store.append(tx, { type: 'agent.retry', taskId: id });
      }
    });
    assert.equal((await readChanges(db, 1, extras)).snapshot?.tasks.length, 1);
    const near = await readChanges(db, 2, extras);
    assert.deepEqual([near.snapshot, near.tasks.length, near.seq], [null, 1, 2_002]);
    await project.close();
  });

  test('only the effects of one task on others are sent', async () => {
    const project = await memoryStore();
    const ids = await addTasks(project, [
      { title: 'A' },
      { title: 'B', blocked_by: ['A'] },
      { title: 'C' },
      { title: 'D' },
      { title: 'D1', parent: 'D', blocked_by: ['A'] },
    ]);
    const { db } = project.store;
    const named = (list: readonly { id: string }[]): string[] =>
      Object.keys(ids).filter((title) => list.some((task) => task.id === ids[title]));
    const before = (await snapshot(project)).seq;
    await moveTask(project, ids['A'] ?? '', ['claimed']);
    const claimed = await readChanges(db, before, extras);
    assert.deepEqual(named(claimed.tasks), ['A']);
    assert.deepEqual([claimed.stuck, claimed.epics], [null, []]);
    await moveTask(project, ids['A'] ?? '', ['in_progress', 'completed']);
    const done = await readChanges(db, claimed.seq, extras);
    assert.deepEqual(named(done.tasks), ['A', 'B', 'D', 'D1']);
    const none = await readChanges(db, done.seq, extras);
    assert.deepEqual([none.tasks, none.epics, none.stuck, none.seq], [[], null, null, done.seq]);
    await project.close();
  });
});
