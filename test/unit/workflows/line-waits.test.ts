// Runs whose tasks wait for each other's lines: one always goes on, or none waits.

import assert from 'node:assert/strict';
import { addEpic } from '../../../server/store/plan/epics.ts';
import { activeRunsIn, type RunRow } from '../../../server/store/port.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';
import {
  arrivedCommits,
  canStillCome,
  waitForLines,
  waitsForOtherRuns,
} from '../../../server/workflows/attempt/line-waits.ts';
import { addTasks, memoryStore, moveTask, type TestStore } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('runs that wait for lines', () => {
  let project: TestStore;
  let engine: Engine;
  let epics: Readonly<Record<'A' | 'B', string>>;
  let arrived: string[];

  setup(async () => {
    project = await memoryStore();
    const { store, sources } = project;
    arrived = [];
    const git = {
      readRef: (ref: string) => Promise.resolve(ref),
      isAncestor: (sha: string, tip: string) => Promise.resolve(arrived.includes(`${tip} ${sha}`)),
    };
    engine = { store, git, clock: { now: () => sources.nowMs } } as unknown as Engine;
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
    await moveTask(project, id ?? '', ['claimed', 'in_progress', 'completed'], set);
  }

  /** The ready tasks, each with whether it waits for a line. */
  async function looks(): Promise<Readonly<Record<string, boolean>>> {
    const { store, sources } = project;
    const active = await activeRunsIn(store.db);
    const facts = await arrivedCommits(engine, active);
    await store.transaction((tx) => waitForLines(engine, tx, active, facts));
    const rows = await tablesOf(store.db)
      .selectFrom('tasks')
      .select(['title', 'next_attempt_at_ms'])
      .where('status', '=', 'ready')
      .execute();
    return Object.fromEntries(
      rows.map((row) => [row.title, (row.next_attempt_at_ms ?? 0) > sources.nowMs]),
    );
  }

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

  test('where each waits for the other’s line, none waits', async () => {
    await crossed();
    assert.deepEqual(await looks(), { a2: false, b2: false });
  });

  test('where one of them has another task, both wait', async () => {
    await crossed([{ title: 'a3', epic: epics.A }]);
    assert.deepEqual(await looks(), { a2: true, b2: true, a3: false });
  });

  test('a task whose blocker has arrived on its line does not wait, and is what goes on', async () => {
    const ids = await crossed();
    arrived.push(`refs/drover/land/${lineOf(epics.A)} sha of ${ids['b1']}`);
    assert.deepEqual(await looks(), { a2: false, b2: true });
  });

  test('a run whose tasks are done ends by itself: its line is waited for', async () => {
    const ids = await crossed();
    await moveTask(project, ids['b2'] ?? '', ['cancelled']);
    assert.deepEqual(await looks(), { a2: true });
  });

  test('a claimed task can get what it lacks only while something else goes on', async () => {
    const ids = await crossed([{ title: 'b3', epic: epics.B }]);
    await moveTask(project, ids['a2'] ?? '', ['claimed']);
    const can = (): Promise<boolean> =>
      project.store.transaction((tx) => {
        const claim = { runId: 'run-a', taskId: ids['a2'] } as Parameters<typeof canStillCome>[1];
        return canStillCome(tx, claim, lineOf(epics.B));
      });
    assert.equal(await can(), true);
    await moveTask(project, ids['b3'] ?? '', ['cancelled']);
    assert.equal(await can(), false);
  });

  test('a run of everything holds no task of an epic’s own run', async () => {
    const ids = await addTasks(project, [
      { title: 'a1', epic: epics.A },
      { title: 'a2', epic: epics.A, blocked_by: ['a1'] },
      { title: 'free' },
    ]);
    await start('run-a', epics.A);
    await start('run-all', null);
    await land(ids['a1'], lineOf(epics.A));
    assert.deepEqual(await looks(), { a2: false, free: false });
  });

  test('where it shares a task with the run that has its blocker, it alone leaves it', async () => {
    const ids = await addTasks(project, [
      { title: 'a1', epic: epics.A },
      { title: 'a2', epic: epics.A, blocked_by: ['a1'] },
    ]);
    await start('run-a', epics.A, { tasks: [ids['a2']] });
    await start('run-all', null);
    await land(ids['a1'], lineOf(epics.A));
    assert.deepEqual(await looks(), { a2: false });
    const { store } = project;
    const active = await activeRunsIn(store.db);
    const waiting = await store.transaction((tx) =>
      waitForLines(engine, tx, active, new Set<string>()),
    );
    assert.deepEqual([...waiting], [['run-all', [ids['a2']]]]);
  });

  test('a run waits for no run that only waits for its line, for a sub-task neither', async () => {
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
    assert.equal(await waitsForOtherRuns(engine, await run('run-a')), true);
  });
});
