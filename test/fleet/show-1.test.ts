// Three workers and a clone without agents: an epic of sixty tasks, started on the clone without
// agents, is completed by all workers together.

import assert from 'node:assert/strict';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { tail } from '../e2e/support/run-program.ts';
import { assertFleetDone } from './support/checks.ts';
import { countedAgent, gateSettings, importEpic, layeredPlan } from './support/epic.ts';
import { useFleets } from './support/suite-fleets.ts';
import { startWorkers } from './support/workers.ts';

const workers = ['north', 'east', 'south'];

suite('a fleet of three workers', function () {
  this.timeout(600_000);
  const fleet = useFleets();

  test('sixty tasks that are started on a fourth clone all complete, in order, on all three machines', async () => {
    const here = await fleet({
      machines: [...workers, 'desk'],
      agent: countedAgent,
      settings: gateSettings,
    });
    const tasks = layeredPlan(new SeededChance(1), 6, 10);
    const desk = here.machine('desk');
    desk.writeUserSettings('[fleet]\nagents = 0\n');
    await importEpic(desk, tasks);
    await startWorkers(here, workers, 3);
    const run = await desk.start(['run', '--workers', '9']).ended;
    assert.equal(run.code, 0, `${tail(run.stdout)}\n${tail(run.stderr)}\n${desk.log()}`);
    assert.match(run.stdout, /60 completed/);

    const { landedFrom, doubledRuns } = await assertFleetDone(here, tasks);
    assert.equal(doubledRuns, 0, 'nobody does what another one does');
    assert.deepEqual([...landedFrom.keys()].sort(), [...workers].sort());
    for (const [name, count] of landedFrom) assert.ok(count >= 10, `${name} did ${count} of 60`);
    for (const name of workers) {
      const { host } = here.machine(name);
      assert.equal(host.processes().length > 0, true, `the worker on ${name} goes on`);
    }
  });
});
