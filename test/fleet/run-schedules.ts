// The long run of random schedules: `node test/fleet/run-schedules.ts --seeds 20 --from 1 [--cut
// 30] [--verbose] [--keep]`, with one line per seed.

import { parseArgs } from 'node:util';
import { describeAction, makeSchedule, scheduleOptions } from './schedule-plan.ts';
import { runSchedule, scheduleTasks } from './schedules.ts';
import { makeFleet } from './support/fleet.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    from: { type: 'string', default: '1' },
    cut: { type: 'string', default: '30' },
    verbose: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const from = Number(values.from);
const count = Number(values.seeds);
const cutMs = Number.parseFloat(values.cut) * 1_000;

let failed = 0;
let ran = 0;
let good = 0;
let forNothing = 0;
let isStopped = false;
// The running schedule is completed, so that nothing is left behind.
process.once('SIGINT', () => (isStopped = true));
process.once('SIGTERM', () => (isStopped = true));
for (let seed = from; seed < from + count && !isStopped; seed += 1) {
  ran += 1;
  const schedule = makeSchedule(seed, cutMs);
  const beginMs = Date.now();
  const fleet = await makeFleet(scheduleOptions(schedule));
  let isGood = false;
  const seconds = (): string => `${((Date.now() - beginMs) / 1_000).toFixed(0)} s`;
  try {
    const { landedFrom, doubledRuns, stillMs, done } = await runSchedule(fleet, schedule);
    isGood = true;
    if (values.verbose) console.log(done.map((line) => `  ${line}`).join('\n'));
    const places = [...landedFrom].map(([name, landed]) => `${name} ${landed}`).join(', ');
    const still = `nothing landed for ${(stillMs / 1_000).toFixed(1)} s at most`;
    console.log(
      `seed ${seed}: good, ${seconds()}, ${places}, ${still}, ${doubledRuns} runs for nothing`,
    );
    const kinds = schedule.actions.map(({ kind }) => kind).join(', ');
    console.log(`  ${kinds}`);
    good += 1;
    forNothing += doubledRuns;
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
const share = (100 * forNothing) / (good * scheduleTasks + forNothing || 1);
console.log(`runs for nothing: ${forNothing}, ${share.toFixed(1)} % of the runs`);
console.log(`schedules: ${ran - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
