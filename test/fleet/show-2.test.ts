// A fleet to which things happen: a worker is killed, a cable is pulled, PostgreSQL restarts, the owner of a landing dies
// between its push and the answer. Every task is done, none twice. `node test/fleet/run-schedules.ts` has more seeds.

import { makeSchedule, describeAction, runSchedule, scheduleOptions } from './schedules.ts';
import { whyNoNamespaces } from './support/network.ts';
import { useFleets } from './support/suite-fleets.ts';

const seeds = [1, 2, 3];
/** Longer than it takes to give the work of a silent machine to others. */
const cutMs = 8_000;
const how = whyNoNamespaces() === null ? 'cut off the network' : 'stopped, not cut off the network';

suite(`a fleet to which things happen (machines are ${how})`, function () {
  this.timeout(600_000);
  const fleet = useFleets();

  for (const seed of seeds) {
    const schedule = makeSchedule(seed, cutMs);
    test(`schedule ${seed}: ${schedule.actions.map(describeAction).join('; ')}`, async () => {
      await runSchedule(await fleet(scheduleOptions), schedule);
    });
  }
});
