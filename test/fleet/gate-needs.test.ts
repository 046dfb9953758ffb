// A gate that needs a label: work waits and says so until a machine with the label runs, and only
// that machine lands.

import assert from 'node:assert/strict';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { assertFleetDone } from './support/checks.ts';
import {
  countedAgent,
  fleetSettings,
  gateMachines,
  importEpic,
  layeredPlan,
} from './support/epic.ts';
import { useFleets } from './support/suite-fleets.ts';
import { startWorkers } from './support/workers.ts';

const perLayer = 3;

suite('a fleet whose gate needs a label', function () {
  this.timeout(300_000);
  const fleet = useFleets();

  test('finished work waits for a machine with the label, and why, status and machines report it', async () => {
    const here = await fleet({
      machines: ['north', 'south', 'desk'],
      agent: countedAgent,
      settings: `${fleetSettings}needs = ["gpu"]\n`,
      isPlain: true,
    });
    const tasks = layeredPlan(new SeededChance(5), 2, perLayer);
    const desk = here.machine('desk');
    const south = here.machine('south');
    desk.writeUserSettings('[fleet]\nagents = 0\n');
    await importEpic(desk, tasks);
    await startWorkers(here, ['north'], 2);
    const run = desk.start(['run', '--workers', '2']);
    const waiting = await eventually('finished work waits', async () => {
      const rows = await here.query<{ id: string }>(
        `SELECT task_id AS id FROM landings WHERE state = 'queued' ORDER BY position`,
      );
      return rows.length === perLayer ? (rows[0]?.id ?? null) : null;
    });
    const reason = /No machine with label "gpu" is running, and the gate needs one/u;
    assert.match((await desk.expect(0, ['why', waiting])).replace(/\s+/gu, ' '), reason);
    assert.match((await desk.expect(0, ['status'])).replace(/\s+/gu, ' '), reason);
    const listed = await desk.json<readonly { name: string; lands: boolean }[]>(['machines']);
    assert.deepEqual(
      listed.filter(({ lands }) => lands),
      [],
    );
    await south.expect(0, ['init']);
    await south.startWorker(['--agents', '1', '--label', 'gpu']);
    const ended = await run.ended;
    assert.equal(ended.code, 0, ended.stderr);
    await assertFleetDone(here, tasks);
    assert.deepEqual([...gateMachines(here)], ['south']);
  });
});
