// A fleet with failures: a worker is killed, a cable is unplugged, PostgreSQL restarts, the owner
// of a landing dies between its push and the answer. Every task is done, and none twice. `node
// test/fleet/run-schedules.ts` has more seeds.

import assert from 'node:assert/strict';
import { sized } from '../tier.ts';
import { describeAction, makeSchedule, type Schedule, scheduleOptions } from './schedule-plan.ts';
import { runSchedule } from './schedules.ts';
import { gateMachines } from './support/epic.ts';
import { whyNoNamespaces } from './support/network.ts';
import { useFleets } from './support/suite-fleets.ts';

/** Longer than it takes to reassign a silent machine's work. */
const cutMs = 8_000;

/** The machine of the gate dies and comes back, and nothing else happens. */
const oneDeath: Schedule = {
  seed: 0,
  actions: [
    { kind: 'kill', at: { type: 'worktree.ready', count: 4 }, machine: 'east', backMs: 6_000 },
  ],
};

/** Number of tasks in each of the epic's five layers. */
const perLayer = sized(5, 12);

const schedules: readonly Schedule[] = sized(
  [oneDeath],
  [oneDeath, ...[1, 2, 3].map((seed) => makeSchedule(seed, cutMs))],
);
const how = whyNoNamespaces() === null ? 'cut off the network' : 'stopped, not cut off the network';

suite(`a fleet under random failures (machines are ${how})`, function () {
  this.timeout(600_000);
  const fleet = useFleets();

  for (const schedule of schedules) {
    test(`schedule ${schedule.seed}: ${schedule.actions.map(describeAction).join('; ')}`, async () => {
      const here = await fleet(scheduleOptions(schedule));
      await runSchedule(here, schedule, perLayer);
      // Two machines with agents were always available.
      if (schedule === oneDeath)
        assert.ok(!gateMachines(here).has('desk'), 'the desk lands nothing');
    });
  }
});
