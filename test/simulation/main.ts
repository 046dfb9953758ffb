// npm run simulate -- [--seeds N] [--from S] [--fault name] [--twice]: runs seeds and tells the first that fails.

import { parseArgs } from 'node:util';
import { noFaults } from './faults.ts';
import { runSeed } from './run-seed.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    fault: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
});

const first = Number(values.from);
const count = Number(values.seeds);
let failed = 0;
const totals = { events: 0, crashes: 0, simulatedMs: 0 };
const begun = performance.now();
for (let seed = first; seed < first + count; seed += 1) {
  const outcome = await runSeed(seed, noFaults);
  totals.events += outcome.events;
  totals.crashes += outcome.crashes;
  totals.simulatedMs += outcome.simulatedMs;
  if (outcome.violation === null) continue;
  failed += 1;
  if (values.all) {
    console.log(`seed ${seed}: ${outcome.violation.message.split('\n', 1)[0]}`);
    continue;
  }
  console.log(outcome.story.join('\n'));
  console.log(`seed ${seed} breaks ${outcome.violation.message}`);
  break;
}
const seconds = ((performance.now() - begun) / 1000).toFixed(1);
console.log(
  `${count} seeds from ${first}: ${failed} failed; ${totals.crashes} crashes, ${totals.events} events, ${Math.round(totals.simulatedMs / 1000)} s of simulated time in ${seconds} s`,
);
process.exitCode = failed > 0 ? 1 : 0;
