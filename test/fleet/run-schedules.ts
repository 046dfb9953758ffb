// The long run of random schedules: `node test/fleet/run-schedules.ts --seeds 20 --from 1 [--cut 30s]`, a line per seed.

import { parseArgs } from 'node:util';
import { describeAction, makeSchedule, runSchedule, scheduleOptions } from './schedules.ts';
import { makeFleet } from './support/fleet.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    from: { type: 'string', default: '1' },
    cut: { type: 'string', default: '30' },
    keep: { type: 'boolean', default: false },
  },
});
const from = Number(values.from);
const count = Number(values.seeds);
const cutMs = Number.parseFloat(values.cut) * 1_000;

let failed = 0;
for (let seed = from; seed < from + count; seed += 1) {
  const schedule = makeSchedule(seed, cutMs);
  const beginMs = Date.now();
  const fleet = await makeFleet(scheduleOptions);
  let isGood = false;
  const seconds = (): string => `${((Date.now() - beginMs) / 1_000).toFixed(0)} s`;
  try {
    const { landedFrom, doubledRuns } = await runSchedule(fleet, schedule);
    isGood = true;
    const places = [...landedFrom].map(([name, landed]) => `${name} ${landed}`).join(', ');
    console.log(`seed ${seed}: good, ${seconds()}, ${places}, ${doubledRuns} doubled runs`);
  } catch (error) {
    failed += 1;
    console.log(`seed ${seed}: FAILED, ${seconds()}`);
    console.log(schedule.actions.map((action) => `  ${describeAction(action)}`).join('\n'));
    console.log(String(error instanceof Error ? error.message : error));
  }
  await fleet.end(!isGood && values.keep).catch((error: unknown) => {
    failed += isGood ? 1 : 0;
    console.log(`seed ${seed}: the end: ${String(error)}`);
  });
}
console.log(`schedules: ${count - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
