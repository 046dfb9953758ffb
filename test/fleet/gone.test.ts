// Machines that go for good: the one where the run was started, or all workers but one. Those that are left do the rest.

import { SeededChance } from '../doubles/seeded-chance.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { assertFleetDone } from './support/checks.ts';
import { countedAgent, fleetSettings, importEpic, layeredPlan } from './support/epic.ts';
import type { Fleet } from './support/fleet.ts';
import { useFleets } from './support/suite-fleets.ts';
import { startWorkers } from './support/workers.ts';

const workers = ['north', 'east', 'south'];
const doneMaxMs = 180_000;

const cases: readonly { readonly name: string; readonly gone: readonly string[] }[] = [
  { name: 'the machine where the run was started', gone: ['desk'] },
  { name: 'all workers but one', gone: ['north', 'south'] },
  {
    name: 'the machine where the run was started and two workers',
    gone: ['desk', 'north', 'east'],
  },
];

suite('a fleet whose machines go for good', function () {
  this.timeout(400_000);
  const fleet = useFleets();

  for (const { name, gone } of cases) {
    test(name, async () => {
      const here = await fleet({
        machines: [...workers, 'desk'],
        agent: countedAgent,
        settings: fleetSettings,
      });
      const tasks = layeredPlan(new SeededChance(7), 3, 5);
      const desk = here.machine('desk');
      desk.writeUserSettings('[fleet]\nagents = 0\n');
      await importEpic(desk, tasks);
      await startWorkers(here, workers, 2);
      const run = desk.start(['run', '--workers', '6']);
      await run.line((line) => line.includes('task.completed'));
      await Promise.all(gone.map((machine) => here.machine(machine).kill()));
      await eventually('the run is finished', () => isFinished(here), doneMaxMs);
      await assertFleetDone(here, tasks);
    });
  }
});

async function isFinished(fleet: Fleet): Promise<boolean> {
  const rows = await fleet.query<{ state: string }>('SELECT state FROM runs');
  return rows.length === 1 && rows[0]?.state === 'finished';
}
