// The events about the machines of a fleet and about which machine lands work.

import assert from 'node:assert/strict';
import type { Updateable } from 'kysely';
import { reportMachines } from '../../../server/store/fleet/machine-events.ts';
import { beginLander, endLander, readLander } from '../../../server/store/fleet/line-landers.ts';
import { readMachines } from '../../../server/store/fleet/machine-views.ts';
import { beatMachine, leaveFleet } from '../../../server/store/fleet/machines.ts';
import type { MachineTable } from '../../../server/store/schema/machine-tables.ts';
import { tablesOf } from '../../tables.ts';
import { memoryStore, type TestStore } from './memory-store.ts';

suite('events of machines', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  const beat = (id: string, remoteAwayForMs: number | null = null): Promise<number> =>
    beatMachine(tablesOf(project.store.db), {
      id,
      name: `name-${id}`,
      labels: [],
      state: 'working',
      agentsMax: 1,
      room: 1,
      lands: true,
      note: null,
      version: '1',
      compatibility: 1,
      aliveForMs: 60_000,
      remoteAwayForMs,
    });

  async function change(id: string, values: Updateable<MachineTable>): Promise<void> {
    const { db } = project.store;
    await tablesOf(db).updateTable('machines').set(values).where('id', '=', id).execute();
  }

  let seen = 0;
  setup(() => {
    seen = 0;
  });

  /** The events since the last call, after every machine has looked twice. */
  async function told(knowsDead = true): Promise<readonly string[]> {
    for (let looks = 0; looks < 2; looks += 1) await reportMachines(project.store, knowsDead);
    return since();
  }

  async function since(): Promise<readonly string[]> {
    const events = await project.store.feed.read({ after: seen });
    seen = events.at(-1)?.seq ?? seen;
    return events.map(({ type, data }) => `${type} ${String(data['machine'])}`);
  }

  test('a machine that joins, leaves and joins again is reported once each time', async () => {
    await beat('a');
    assert.deepEqual(await told(), ['machine.joined name-a']);
    await leaveFleet(tablesOf(project.store.db), 'a');
    assert.deepEqual(await told(), ['machine.left name-a']);
    await beat('a');
    assert.deepEqual(await told(), ['machine.joined name-a']);
  });

  test('a machine that dies and returns is reported, but not while this one missed the database', async () => {
    await beat('a');
    await told();
    await change('a', { alive_until_ms: 1 });
    assert.deepEqual(await told(false), []);
    assert.deepEqual(await told(), ['machine.died name-a']);
    await beat('a');
    assert.deepEqual(await told(), ['machine.joined name-a']);
  });

  test('a machine that died before such events existed is not reported', async () => {
    await beat('a');
    await change('a', { alive_until_ms: 1 });
    assert.deepEqual(await told(), []);
  });

  test('a machine that loses and regains the remote is reported', async () => {
    await beat('a', 0);
    assert.deepEqual(await told(), ['machine.joined name-a', 'machine.cut_off name-a']);
    await beat('a');
    assert.deepEqual(await told(), ['machine.reconnected name-a']);
    await beat('a', 0);
    assert.deepEqual(await told(), ['machine.cut_off name-a']);
    await leaveFleet(tablesOf(project.store.db), 'a');
    assert.deepEqual(await told(), ['machine.left name-a']);
  });

  test('a machine that has left no longer reports that it cannot reach git', async () => {
    await beat('a', 12_000);
    await change('a', { note: 'The git remote origin has not answered for 12 s.' });
    const db = tablesOf(project.store.db);
    await leaveFleet(db, 'a');
    const [left] = await readMachines(db, 0);
    assert.deepEqual([left?.state, left?.note], ['left', null]);
  });

  test("a machine that continues another machine's landing is reported, but a turn at landing is not", async () => {
    for (const id of ['a', 'b']) await beat(id);
    await told();
    const { store } = project;
    const role = (machine: string, workflow: string) => ({ branch: 'main', machine, workflow });
    await beginLander(store, role('a', 'w1'));
    await beginLander(store, role('a', 'w1'));
    await endLander(store.db, store.sources, role('a', 'w1'));
    await beginLander(store, role('b', 'w2'));
    assert.deepEqual(await since(), []);
    await beginLander(store, role('a', 'w2'));
    await beginLander(store, role('a', 'w2'));
    await endLander(store.db, store.sources, role('b', 'w2'));
    assert.deepEqual(await since(), ['machine.took_over name-a']);
    const [event] = await store.feed.read({ type: 'machine.took_over' });
    assert.deepEqual(event?.data, {
      machine: 'name-a',
      machine_id: 'a',
      branch: 'main',
      from_machine: 'name-b',
    });
    const lander = await readLander(tablesOf(store.db), 'main');
    assert.deepEqual([lander?.machine, lander?.ended_ms], ['a', null]);
  });
});
