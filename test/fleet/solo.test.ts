// A fleet of one machine: its database restarts, is unreachable for a while, and is disconnected;
// the machine itself loses power.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { type RunningProgram, tail } from '../e2e/support/run-program.ts';
import { assertFleetDone } from './support/checks.ts';
import { countedAgent, fleetSettings, importEpic, layeredPlan } from './support/epic.ts';
import type { Fleet } from './support/fleet.ts';
import { useFleets } from './support/suite-fleets.ts';

/** Longer than others wait for a silent machine. */
const awayMs = 8_000;

type Trouble = (fleet: Fleet, run: RunningProgram) => Promise<RunningProgram>;

const troubles: Readonly<Record<string, Trouble>> = {
  'PostgreSQL restarts in order': async (fleet, run) => {
    await fleet.restartPostgres('fast');
    return run;
  },
  'PostgreSQL is killed': async (fleet, run) => {
    await fleet.restartPostgres('kill');
    return run;
  },
  'PostgreSQL is away for longer than a machine is waited for': async (fleet, run) => {
    await fleet.postgres.stop('SIGINT');
    await pause(awayMs);
    await fleet.postgres.start();
    return run;
  },
  'the git server is away for a while': async (fleet, run) => {
    await fleet.gitServer.stop();
    await pause(awayMs);
    await fleet.gitServer.start();
    return run;
  },
  'the network is away for longer than a machine is waited for': async (fleet, run) => {
    const { host } = fleet.machine('solo');
    host.cutOff();
    await pause(awayMs);
    host.reconnect();
    return run;
  },
  'the power goes': async (fleet) => {
    const solo = fleet.machine('solo');
    await solo.kill();
    return solo.start(['run', '--workers', '3']);
  },
};

suite('a fleet of one machine', function () {
  this.timeout(240_000);
  const fleet = useFleets();

  for (const [name, happens] of Object.entries(troubles)) {
    test(name, async () => {
      const here = await fleet({
        machines: ['solo'],
        agent: countedAgent,
        settings: fleetSettings,
      });
      const solo = here.machine('solo');
      const tasks = layeredPlan(new SeededChance(5), 3, 4);
      await importEpic(solo, tasks);
      const first = solo.start(['run', '--workers', '3']);
      await first.line((line) => line.includes('task.completed'));
      const last = await happens(here, first);
      const run = await last.ended;
      assert.equal(run.code, 0, `${tail(run.stdout)}\n${tail(run.stderr)}\n${solo.log()}`);
      assert.match(run.stdout, /12 completed/);
      const { landedFrom } = await assertFleetDone(here, tasks);
      assert.deepEqual([...landedFrom], [['solo', 12]]);
    });
  }
});
