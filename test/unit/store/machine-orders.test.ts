// A person's orders to a machine of the fleet: when they are refused, and what they store.

import assert from 'node:assert/strict';
import { beginLander, endLander } from '../../../server/store/fleet/line-landers.ts';
import {
  forgetDrainOrder,
  orderDrain,
  orderRelease,
} from '../../../server/store/fleet/machine-orders.ts';
import { liveMachines } from '../../../server/store/fleet/machines.ts';
import { tablesOf } from '../../tables.ts';
import { memoryStore, type TestStore } from './memory-store.ts';

suite('commands to machines', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  async function machine(id: string, more: { alive?: number; lands?: number } = {}): Promise<void> {
    await tablesOf(project.store.db)
      .insertInto('machines')
      .values({
        id: `${id}-0123456789`,
        name: id,
        state: 'working',
        agents_max: 2,
        room: 2,
        version: '1',
        joined_at_ms: 1,
        alive_until_ms: Date.now() + (more.alive ?? 60_000),
        lands: more.lands ?? 1,
      })
      .execute();
  }

  const drain = (wanted: string, now = false) =>
    project.store.transaction((tx) =>
      orderDrain(tx, project.store.sources, { machine: wanted, now }),
    );
  const release = (branch: string) =>
    project.store.transaction((tx) => orderRelease(tx, project.store.sources, branch));
  const events = async (): Promise<readonly unknown[]> =>
    (await project.store.feed.read({})).map(({ type, data }) => [
      type,
      data['machine'],
      data['now'],
    ]);

  test('a drain names the machine by its name or its id, once, and warns if it is the last', async () => {
    await machine('atlas');
    await machine('hera');
    const first = await drain('atlas');
    assert.deepEqual([first.name, first.was_draining, first.is_last], ['atlas', false, false]);
    const again = await drain('atlas-01');
    assert.deepEqual([again.was_draining, again.is_last], [true, false]);
    assert.deepEqual(await events(), [['machine.drain_requested', 'atlas', false]]);
    await drain('atlas', true);
    await drain('atlas', true);
    assert.deepEqual((await events()).length, 2);
    assert.equal((await drain('hera')).is_last, true);
  });

  test('a machine that starts again is not drained by an earlier command', async () => {
    await machine('atlas');
    const { id } = await drain('atlas');
    await project.store.transaction((tx) => forgetDrainOrder(tx, id));
    const [atlas] = await liveMachines(tablesOf(project.store.db));
    assert.equal(atlas?.drainOrder, null);
  });

  test('a drain is refused without a fleet, for an unknown name, and for a machine that has exited', async () => {
    await assert.rejects(drain('atlas'), /runs on one machine/u);
    await machine('atlas');
    await machine('zeus', { alive: -1 });
    await assert.rejects(drain('nyx'), /No machine is named "nyx"\. Running machines: atlas\./u);
    await assert.rejects(drain('zeus'), /zeus is dead/u);
    assert.deepEqual(await events(), []);
  });

  test('a release is refused if no machine lands there, and if no other machine can', async () => {
    await assert.rejects(release('main'), /runs on one machine/u);
    await machine('atlas');
    await machine('desk', { lands: 0 });
    await assert.rejects(release('main'), /No machine is landing on main now\. "drover machines"/u);
    const { store } = project;
    const role = { branch: 'main', machine: 'atlas-0123456789', workflow: 'w' };
    await beginLander(store, role);
    await assert.rejects(release('main'), /No machine but atlas can land on main now/u);
    await machine('hera');
    assert.equal((await release('main')).name, 'atlas');
    await release('main');
    assert.deepEqual(await events(), [['machine.release_requested', 'atlas', undefined]]);
    await endLander(store.db, store.sources, role);
    await assert.rejects(release('main'), /main now\. The last landing ended/u);
  });
});
