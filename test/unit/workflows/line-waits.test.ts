// Runs whose tasks wait for each other's lines: one always goes on, or none waits.

import assert from 'node:assert/strict';
import { addEpic } from '../../../server/store/plan/epics.ts';
import { activeRunsIn, landOnLine, type RunRow, scopeOfRun } from '../../../server/store/port.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';
import {
  blockWaiting,
  noteArrived,
  waitsForOtherRuns,
} from '../../../server/workflows/run/line-waits.ts';
import { startableTasks } from '../../../server/store/work/startable.ts';
import { addTasks, memoryStore, moveTask, type TestStore } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('runs that wait for lines', () => {
  let project: TestStore;
  let engine: Engine;
  let epics: Readonly<Record<'A' | 'B', string>>;
  let arrived: string[];

  setup(async () => {
    project = await memoryStore();
    const { store } = project;
    arrived = [];
    const git = {
      readRef: (ref: string) => Promise.resolve(ref),
      isAncestor: (sha: string, tip: string) => Promise.resolve(arrived.includes(`${tip} ${sha}`)),
      lineCommits: () => Promise.resolve({ ok: true, value: [] }),
    };
    engine = { store, git, machineId: '' } as unknown as Engine;
    epics = await store.transaction(async (tx) => ({
      A: (await addEpic(tx, store.sources, { title: 'A' })).id,
      B: (await addEpic(tx, store.sources, { title: 'B' })).id,
    }));
  });
  teardown(() => project.close());

  const lineOf = (epic: string): string => `drover/epic/${epic}`;

  async function start(id: string, epic: string | null, flags = {}): Promise<void> {
    await tablesOf(project.store.db)
      .insertInto('runs')
      .values({
        id,
        state: 'active',
        started_at_ms: 1,
        workers: 2,
        epic_id: epic,
        land: epic === null ? 'task' : 'epic',
        target_branch: 'main',
        line: epic === null ? 'main' : lineOf(epic),
        base_sha: 'base',
        flags: JSON.stringify(flags),
      })
      .execute();
  }

  async function land(id: string | undefined, line: string): Promise<void> {
    const set = { landed_on: line, landed_sha: `sha of ${id}` };
    await project.store.transaction((tx) => landOnLine(tx, line, `sha of ${id}`));
    await moveTask(project, id ?? '', ['claimed', 'in_progress', 'completed'], set);
  }

  /** The ready tasks, each with whether some run may start it. */
  async function looks(): Promise<Readonly<Record<string, boolean>>> {
    const { db } = project.store;
    const active = await activeRunsIn(db);
    const startable = new Set<string>();
    for (const row of active) {
      await noteArrived(engine, row);
      const scope = await scopeOfRun(db, row, active);
      const found = await startableTasks(db, { ...scope, nowMs: 1, limit: 9 });
      for (const { id } of found) startable.add(id);
    }
    const rows = await tablesOf(db)
      .selectFrom('tasks')
      .select(['id', 'title'])
      .where('status', '=', 'ready')
      .execute();
    return Object.fromEntries(rows.map(({ id, title }) => [title, startable.has(id)]));
  }

  const waits = async (): Promise<Readonly<Record<string, boolean>>> => ({
    A: await waitsForOtherRuns(engine, await run('run-a')),
    B: await waitsForOtherRuns(engine, await run('run-b')),
  });

  const run = async (id: string): Promise<RunRow> => {
    const row = (await activeRunsIn(project.store.db)).find((each) => each.id === id);
    assert.ok(row);
    return row;
  };

  /** Each of two epics has landed the blocker of the other one's task. */
  async function crossed(more: readonly { title: string; epic: string }[] = []) {
    const ids = await addTasks(project, [
      { title: 'a1', epic: epics.A },
      { title: 'b1', epic: epics.B },
      { title: 'a2', epic: epics.A, blocked_by: ['b1'] },
      { title: 'b2', epic: epics.B, blocked_by: ['a1'] },
      ...more,
    ]);
    await start('run-a', epics.A);
    await start('run-b', epics.B);
    await land(ids['a1'], lineOf(epics.A));
    await land(ids['b1'], lineOf(epics.B));
    return ids;
  }

  test("if each waits for the other's line, neither waits, and both are blocked", async () => {
    const ids = await crossed();
    assert.deepEqual(await looks(), { a2: false, b2: false });
    assert.deepEqual(await waits(), { A: false, B: false });
    assert.equal(await blockWaiting(engine, await run('run-a')), 1);
    const { blocked_reason: reason } = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select('blocked_reason')
      .where('id', '=', ids['a2'] ?? '')
      .executeTakeFirstOrThrow();
    assert.match(reason ?? '', /^the commit of its blocker .* is no longer in .*; reset /);
  });

  test('if one of them has another task, the other run waits for it', async () => {
    await crossed([{ title: 'a3', epic: epics.A }]);
    assert.deepEqual(await looks(), { a2: false, b2: false, a3: true });
    assert.deepEqual(await waits(), { A: false, B: true });
  });

  test('a task whose blocker has arrived on its line may start', async () => {
    const ids = await crossed();
    arrived.push(`refs/drover/land/${lineOf(epics.A)} sha of ${ids['b1']}`);
    assert.deepEqual(await looks(), { a2: true, b2: false });
    assert.deepEqual(await waits(), { A: false, B: true });
  });

  test('a run that waits for nothing and lands its epic is waited for', async () => {
    const ids = await crossed();
    await moveTask(project, ids['b2'] ?? '', ['cancelled']);
    assert.deepEqual(await looks(), { a2: false });
    assert.deepEqual(await waits(), { A: true, B: false });
  });

  test("a run of everything holds no task of an epic's own run", async () => {
    const ids = await addTasks(project, [
      { title: 'a1', epic: epics.A },
      { title: 'a2', epic: epics.A, blocked_by: ['a1'] },
      { title: 'free' },
    ]);
    await start('run-a', epics.A);
    await start('run-all', null);
    await land(ids['a1'], lineOf(epics.A));
    assert.deepEqual(await looks(), { a2: true, free: true });
  });

  for (const depth of [0, 1, 2])
    test(`a task waits for a blocker ${depth} levels below it`, async () => {
      const names = ['all', 'part', 'piece'].slice(0, depth + 1);
      const ids = await addTasks(project, [
        { title: 'a1', epic: epics.A },
        ...names.map((title, level) => ({
          title,
          ...(level === 0 ? {} : { parent: names[level - 1] ?? '' }),
          ...(level === depth ? { blocked_by: ['a1'] } : {}),
        })),
      ]);
      await start('run-all', null);
      await land(ids['a1'], lineOf(epics.A));
      assert.equal((await looks())['all'], false);
      const part = { status: 'cancelled' } as const;
      const last = ids[names.at(-1) ?? ''] ?? '';
      if (depth > 0) {
        await tablesOf(project.store.db)
          .updateTable('tasks')
          .set(part)
          .where('id', '=', last)
          .execute();
        assert.equal((await looks())['all'], true, 'a cancelled sub-task needs nothing');
      }
    });

  test('a run waits for no run that only waits for its line, not even for a sub-task', async () => {
    const ids = await addTasks(project, [
      { title: 'a1', epic: epics.A },
      { title: 'all' },
      { title: 'part', parent: 'all', blocked_by: ['a1'] },
      { title: 'a2', epic: epics.A, blocked_by: ['all'] },
    ]);
    await start('run-a', epics.A);
    await start('run-all', null);
    assert.equal(await waitsForOtherRuns(engine, await run('run-a')), false);
    await land(ids['a1'], lineOf(epics.A));
    assert.equal(await waitsForOtherRuns(engine, await run('run-a')), false);
    arrived.push(`refs/drover/land/main sha of ${ids['a1']}`);
    await looks();
    assert.equal(await waitsForOtherRuns(engine, await run('run-a')), true);
  });
});
