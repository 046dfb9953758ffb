// npm run simulate -- [--seeds N] [--from S] [--fault name] [--jobs J] [--all]: runs seeds on
// several cores and prints the first failing one with its last events; `--all` continues and prints
// each failing one in a line.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { faultNames } from './faults.ts';
import type { SeedOutcome } from './run-seed.ts';
import type { SeedJob } from './seed-worker.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    fault: { type: 'string' },
    jobs: { type: 'string', default: String(Math.min(4, availableParallelism())) },
    all: { type: 'boolean', default: false },
  },
});

const first = Number(values.from);
const count = Number(values.seeds);
const jobs = Math.max(1, Math.min(Number(values.jobs), count));
const fault = values.fault ?? null;
if (![first, count, jobs].every(Number.isSafeInteger) || count < 1) {
  console.error('--seeds, --from and --jobs take whole numbers');
  process.exit(2);
}
if (fault !== null && !faultNames.includes(fault)) {
  console.error(`there is no fault ${fault}; choose one of: ${faultNames.join(', ')}`);
  process.exit(2);
}

let done = 0;
let failed = 0;
const totals = { events: 0, crashes: 0, simulatedMs: 0 };
const begun = performance.now();

/** Receives one outcome; returns true if the remaining seeds need not run. */
function take(outcome: SeedOutcome): boolean {
  done += 1;
  totals.events += outcome.events;
  totals.crashes += outcome.crashes;
  totals.simulatedMs += outcome.simulatedMs;
  if (outcome.violation === null) return false;
  failed += 1;
  if (!values.all) console.log(outcome.story.join('\n'));
  const message = values.all ? outcome.violation.split('\n', 1)[0] : outcome.violation;
  console.log(`seed ${outcome.seed} breaks ${message}`);
  return !values.all;
}

await new Promise<void>((resolve) => {
  let running = jobs;
  const workers: Worker[] = [];
  for (let offset = 0; offset < jobs; offset += 1) {
    const workerData: SeedJob = { first: first + offset, end: first + count, step: jobs, fault };
    const worker = new Worker(new URL('seed-worker.ts', import.meta.url), { workerData });
    workers.push(worker);
    worker.on('message', (outcome: SeedOutcome) => {
      if (failed > 0 && !values.all) return;
      if (take(outcome)) for (const each of workers) void each.terminate();
    });
    worker.on('error', (error) => {
      failed += 1;
      console.error(error);
    });
    worker.on('exit', () => {
      running -= 1;
      if (running === 0) resolve();
    });
  }
});

const seconds = (performance.now() - begun) / 1000;
console.log(
  `${done} of ${count} seeds from ${first}: ${failed} failed; ${totals.crashes} crashes, ${totals.events} events, ` +
    `${Math.round(totals.simulatedMs / 1000)} s of simulated time in ${seconds.toFixed(1)} s`,
);
process.exitCode = failed > 0 || (done < count && !values.all) ? 1 : 0;
