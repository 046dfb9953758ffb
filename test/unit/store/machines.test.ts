// The machines of a fleet as shown to people.

import assert from 'node:assert/strict';
import type { Insertable } from 'kysely';
import { readAttempts } from '../../../server/store/work/attempts.ts';
import { readBoard } from '../../../server/store/board/board.ts';
import { readTaskViews } from '../../../server/store/board/board-changes.ts';
import { unmetWants } from '../../../server/store/board/machine-wants.ts';
import { beginLander, endLander } from '../../../server/store/fleet/line-landers.ts';
import { forgetMachines, keepsHouse } from '../../../server/store/fleet/machines.ts';
import { readMachines } from '../../../server/store/fleet/machine-views.ts';
import { showTask } from '../../../server/store/board/show.ts';
import { why } from '../../../server/store/why/why.ts';
import {
  addAttempt,
  addTasks,
  memoryStore,
  moveTask,
  testStartMs,
  type TestStore,
} from './memory-store.ts';
import { noFallback } from '../../doubles/neutral-settings.ts';
import { tablesOf } from '../../tables.ts';
import { type TaskRow } from '../../../server/store/port.ts';
import type { MachineTable } from '../../../server/store/schema/machine-tables.ts';

suite('machines', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  /** By the database's clock, which shows the real time. */
  async function machine(id: string, more: Partial<Insertable<MachineTable>> = {}): Promise<void> {
    await tablesOf(project.store.db)
      .insertInto('machines')
      .values({
        id,
        name: id,
        state: 'working',
        agents_max: 2,
        room: 2,
        version: '1.2.3',
        joined_at_ms: Date.now() - 60_000,
        alive_until_ms: Date.now() + 60_000,
        ...more,
      })
      .execute();
  }

  async function atWork(id: string, on: string, phase: TaskRow['phase'] = 'agent'): Promise<void> {
    await moveTask(project, id, ['claimed', 'in_progress'], { epoch: 1, phase });
    await addAttempt(project, id, { machine: on, base_sha: 'c' });
  }

  async function keptWorktree(id: string, on: string): Promise<void> {
    await tablesOf(project.store.db)
      .insertInto('slots')
      .values({
        machine: on,
        path: '/w/1',
        number: 1,
        kind: 'task',
        task_id: id,
        attempt: 1,
        setup_fingerprint: null,
        created_at: 1,
        last_used_at: 1,
      })
      .execute();
  }

  test('without a fleet, no machine is named anywhere', async () => {
    const { A = '' } = await addTasks(project, [{ title: 'A', labels: ['needs:gpu'] }]);
    await atWork(A, '');
    assert.deepEqual(await readMachines(project.store.db, 15_000), []);
    assert.equal((await showTask(project.store.db, A)).machine, null);
    assert.equal((await readBoard(project.store.db)).tasks[0]?.machine, null);
    assert.equal((await readAttempts(project.store.db, A))[0]?.machine, null);
  });

  test("they list each machine's state, its work, and the time of its last heartbeat", async () => {
    const now = Date.now();
    await machine('m-left', { name: 'nyx', state: 'left', room: 0, alive_until_ms: now - 5_000 });
    await machine('m-dead', { name: 'zeus', alive_until_ms: now - 45_000 });
    await machine('m-dry', { name: 'leto', state: 'draining' });
    await machine('m-atlas', { name: 'atlas', labels: '["gpu"]', room: 1, note: 'It is short.' });
    const tasks = await addTasks(
      project,
      ['A', 'B', 'C', 'D'].map((title) => ({ title })),
    );
    await atWork(tasks['A'] ?? '', 'm-atlas');
    await atWork(tasks['B'] ?? '', 'm-atlas', 'gate');
    await atWork(tasks['C'] ?? '', 'm-dry');
    const machines = await readMachines(project.store.db, 15_000);
    assert.deepEqual(
      machines.map((one) => [one.name, one.state, one.agents, one.room, one.agents_max]),
      [
        ['atlas', 'working', 1, 1, 2],
        ['leto', 'draining', 1, 2, 2],
        ['zeus', 'dead', 0, 2, 2],
        ['nyx', 'left', 0, 0, 2],
      ],
    );
    const [atlas, , zeus, nyx] = machines;
    assert.deepEqual(
      [atlas?.labels, atlas?.note, atlas?.version],
      [['gpu'], 'It is short.', '1.2.3'],
    );
    const near = (ms: number | undefined, wanted: number): void =>
      assert.ok(ms !== undefined && ms >= wanted && ms < wanted + 30_000, `${ms}, not ${wanted}`);
    near(zeus?.heard_ago_ms, 60_000);
    near(nyx?.heard_ago_ms, 5_000);
    near(atlas?.heard_ago_ms, 0);
  });

  test("why names the git remote of the task's machine, or of any machine that could land it", async () => {
    const note = 'The git remote origin has not answered for 12 s.';
    await machine('m-atlas', { name: 'atlas' });
    await machine('m-leto', { name: 'leto', note, remote_away_since_ms: Date.now() - 12_000 });
    const {
      A = '',
      B = '',
      C = '',
    } = await addTasks(
      project,
      ['A', 'B', 'C'].map((title) => ({ title })),
    );
    await atWork(A, 'm-atlas', 'commit');
    await atWork(B, 'm-leto', 'commit');
    await atWork(C, 'm-atlas', 'land');
    const still = { nowMs: testStartMs, agentKind: 'claude', gateNeeds: [] };
    const facts = { ...still, agents: noFallback, hasBackend: true };
    const named = async (id: string): Promise<boolean> =>
      (await why(project.store.db, id, facts)).includes(`leto: ${note}`);
    assert.deepEqual([await named(A), await named(B), await named(C)], [false, true, true]);
  });

  test('the list and why name the machine that lands, and since when; later, how long ago', async () => {
    await machine('m-atlas', { name: 'atlas' });
    await machine('m-leto', { name: 'leto' });
    const { A = '' } = await addTasks(project, [{ title: 'A' }]);
    await atWork(A, 'm-atlas', 'land');
    const { store } = project;
    await tablesOf(store.db)
      .insertInto('landings')
      .values({
        task_id: A,
        epoch: 1,
        attempt: 1,
        line: 'main',
        commit_sha: 'c',
        state: 'queued',
        queued_at_ms: testStartMs,
      })
      .execute();
    const role = { branch: 'main', machine: 'm-leto', workflow: 'w' };
    await beginLander(store, role);
    const facts = { agentKind: 'claude', gateNeeds: [], agents: noFallback, hasBackend: true };
    const said = async (nowMs: number): Promise<string> =>
      (await why(store.db, A, { ...facts, nowMs })).join('\n');
    assert.match(
      await said(testStartMs + 90_000),
      /^leto is landing on main, and started 1 min 30 s ago/mu,
    );
    const landing = async () =>
      (await readMachines(store.db, 0)).map((one) => [
        one.name,
        one.landing?.map(({ branch }) => branch),
      ]);
    assert.deepEqual(await landing(), [
      ['atlas', []],
      ['leto', ['main']],
    ]);
    await endLander(store.db, store.sources, role);
    assert.match(
      await said(testStartMs + 60_000),
      /^The last landing on main ended 1 min ago, on leto/mu,
    );
    assert.deepEqual(await landing(), [
      ['atlas', []],
      ['leto', []],
    ]);
  });

  test('two machines with the same name are distinguished, and an unknown machine is named by its id', async () => {
    await machine('11111111-a', { name: 'atlas' });
    await machine('22222222-b', { name: 'atlas' });
    const { A = '', B = '' } = await addTasks(project, [{ title: 'A' }, { title: 'B' }]);
    await atWork(A, '22222222-b');
    await atWork(B, '33333333-c');
    const { tasks } = await readBoard(project.store.db);
    assert.deepEqual(
      tasks.map((task) => task.machine),
      ['atlas/22222222', '33333333'],
    );
  });

  test('a dead machine gives its name to a live one, and after a week only an explicit request lists it', async () => {
    const now = Date.now();
    const day = 24 * 3_600_000;
    await machine('11111111-a', { name: 'box', state: 'left', alive_until_ms: now - day });
    await machine('22222222-b', { name: 'box', alive_until_ms: now - 6 * day });
    await machine('33333333-c', { name: 'box' });
    await machine('44444444-d', { name: 'old', alive_until_ms: now - 8 * day });
    const names = async (isAll: boolean): Promise<string[]> =>
      (await readMachines(project.store.db, 0, isAll)).map(({ name, state }) => `${name} ${state}`);
    const recent = ['box working', 'box/22222222 dead', 'box/11111111 left'];
    assert.deepEqual(await names(false), recent);
    assert.deepEqual(await names(true), [...recent.slice(0, 2), 'old dead', ...recent.slice(2)]);
  });

  test('a task is on the machine that runs it, or else that of its worktree, and every view agrees', async () => {
    await machine('m-a', { name: 'atlas' });
    await machine('m-b', { name: 'hera' });
    const {
      A = '',
      B = '',
      C = '',
    } = await addTasks(project, [{ title: 'A' }, { title: 'B' }, { title: 'C' }]);
    await atWork(A, 'm-a');
    await keptWorktree(B, 'm-b');
    const shown = [A, B, C].map((id) => showTask(project.store.db, id));
    const told = (await Promise.all(shown)).map((task) => task.machine);
    assert.deepEqual(told, ['atlas', 'hera', null]);
    for (const views of [
      (await readBoard(project.store.db)).tasks,
      await readTaskViews(project.store.db, [A, B, C]),
    ]) {
      assert.deepEqual(
        views.map((task) => task.machine),
        told,
      );
    }
    assert.equal((await readAttempts(project.store.db, A))[0]?.machine, 'atlas');
  });

  test('one machine removes old rows for all', async () => {
    const { db } = project.store;
    assert.equal(await keepsHouse(db, 'm-2'), true);
    await machine('m-1', { state: 'left' });
    await machine('m-2');
    await machine('m-3');
    assert.deepEqual(
      [await keepsHouse(db, 'm-1'), await keepsHouse(db, 'm-2'), await keepsHouse(db, 'm-3')],
      [false, true, false],
    );
  });

  test('machines that never worked are forgotten after a while, and the others keep their names', async () => {
    const long = Date.now() - 3_600_000;
    const { A: task = '' } = await addTasks(project, [{ title: 'A' }]);
    await machine('gone', { state: 'left', alive_until_ms: long });
    await machine('dead', { alive_until_ms: long });
    await machine('recent', { state: 'left', alive_until_ms: Date.now() - 1_000 });
    await machine('worked', { state: 'left', alive_until_ms: long });
    await atWork(task, 'worked');
    assert.equal(await forgetMachines(project.store.db, 60_000), 2);
    const left = await tablesOf(project.store.db).selectFrom('machines').select('id').execute();
    assert.deepEqual(left.map(({ id }) => id).sort(), ['recent', 'worked']);
  });

  test('labels that no machine has are known before a run', async () => {
    const { db } = project.store;
    await addTasks(project, [{ title: 'Any' }]);
    const { A = '', B = '' } = await addTasks(project, [
      { title: 'A', labels: ['needs:gpu', 'slow'] },
      { title: 'B', labels: ['needs:gpu'] },
      { title: 'C', labels: ['needs:big'] },
    ]);
    assert.deepEqual(await unmetWants(db, null, []), []);
    await machine('m-a', { name: 'hera', labels: '["big"]', room: 0, note: 'It is short.' });
    const [want, ...others] = await unmetWants(db, null, []);
    assert.deepEqual(others, []);
    assert.ok(want?.startsWith(`${A}, ${B}: It needs a machine with "gpu"`), want);
    assert.deepEqual(await unmetWants(db, 'epic-other', []), []);
    await tablesOf(db).updateTable('machines').set({ agents_max: 0 }).execute();
    assert.match((await unmetWants(db, null, [])).join(), /^All machines take no agents .*hera/);
    await tablesOf(db).updateTable('machines').set({ state: 'left' }).execute();
    assert.match((await unmetWants(db, null, [])).join(), /^No machine of the fleet is running/);
  });

  test('why names the label that the gate needs and no machine has', async () => {
    const { db } = project.store;
    const { A = '' } = await addTasks(project, [{ title: 'A' }]);
    await atWork(A, 'm-a', 'gate');
    await tablesOf(db)
      .insertInto('landings')
      .values({
        line: 'main',
        task_id: A,
        epoch: 1,
        attempt: 1,
        commit_sha: 'c'.repeat(40),
        state: 'queued',
        queued_at_ms: testStartMs,
      })
      .execute();
    const facts = { nowMs: testStartMs, agentKind: 'claude', agents: noFallback, hasBackend: true };
    const ask = async (): Promise<string> =>
      (await why(db, A, { ...facts, gateNeeds: ['gpu'] })).join(' ');
    await machine('m-a', { name: 'hera', lands: 0 });
    assert.match(
      await ask(),
      / it is the next one\. No machine with label "gpu" is running, .*hera has no labels\. Start/u,
    );
    assert.match((await unmetWants(db, null, ['gpu'])).join(), /^No machine with label "gpu"/u);
    await machine('m-b', { name: 'atlas', labels: '["gpu"]', lands: 0, note: 'It is full.' });
    assert.match(await ask(), / No machine lands work .*atlas: It is full; hera has no labels/u);
    assert.deepEqual(await unmetWants(db, null, ['gpu']), []);
    await tablesOf(db).updateTable('machines').set({ lands: 1 }).where('id', '=', 'm-b').execute();
    assert.match(await ask(), / it is the next one\.$/u);
  });

  test('why names the label that no machine has', async () => {
    await tablesOf(project.store.db)
      .insertInto('runs')
      .values({
        id: 'run-1',
        state: 'active',
        started_at_ms: testStartMs,
        workers: 2,
        land: 'task',
        target_branch: 'main',
        line: 'main',
        base_sha: 'a'.repeat(40),
        flags: '{}',
      })
      .execute();
    const { A = '' } = await addTasks(project, [{ title: 'A', labels: ['needs:gpu'] }]);
    const facts = {
      nowMs: testStartMs,
      agentKind: 'claude',
      agents: noFallback,
      hasBackend: true,
      gateNeeds: [],
    };
    const ask = async (): Promise<string> => (await why(project.store.db, A, facts)).join(' ');
    assert.match(await ask(), /ready and a worker is free/);
    await machine('m-a', { name: 'hera', labels: '["big"]' });
    assert.match(
      await ask(),
      /^It needs a machine with "gpu", and none has "gpu" \(hera has big\);/,
    );
    await machine('m-b', { name: 'atlas', labels: '["gpu"]' });
    assert.match(await ask(), /ready and a worker is free/);
    await atWork(A, 'm-b');
    assert.match(await ask(), /^\S+ is running on atlas for /);
    const dies = async (id: string, state: string, alive_until_ms: number): Promise<void> => {
      const set = { state, alive_until_ms };
      await tablesOf(project.store.db)
        .updateTable('machines')
        .set(set)
        .where('id', '=', id)
        .execute();
    };
    await dies('m-b', 'working', Date.now() - 1_000);
    assert.match(await ask(), /^\S+ was running on atlas, which is dead: the others take it over,/);
    await dies('m-a', 'left', Date.now());
    assert.match(await ask(), /, which is dead: start "drover worker" on a machine to resume it/);
    await dies('m-b', 'left', Date.now());
    assert.match(await ask(), /, which has left: start "drover worker"/);
    for (const id of ['m-a', 'm-b']) await dies(id, 'working', Date.now() + 60_000);
    // When the task is released, it continues in its worktree, although another machine could take
    // it.
    await tablesOf(project.store.db)
      .updateTable('attempts')
      .set({ state: 'interrupted' })
      .execute();
    await moveTask(project, A, ['ready']);
    const rooms = async (id: string, room: number): Promise<void> => {
      await tablesOf(project.store.db)
        .updateTable('machines')
        .set({ room })
        .where('id', '=', id)
        .execute();
    };
    await rooms('m-b', 0);
    assert.match(await ask(), /^It resumes where it started, on atlas: 0 running, room for 0,/);
    await rooms('m-b', 1);
    assert.match(await ask(), /ready and a worker is free/);
    // The machine was restarted without the label, so the task does not continue there.
    await tablesOf(project.store.db)
      .updateTable('machines')
      .set({ labels: '[]' })
      .where('id', '=', 'm-b')
      .execute();
    assert.match(
      await ask(),
      /^It needs a machine with "gpu", and none has "gpu" \(.*atlas has no labels.*\);/,
    );
  });
});
