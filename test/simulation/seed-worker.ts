// One thread of the simulation: runs its share of the seeds and reports each.

import { parentPort, workerData } from 'node:worker_threads';
import { faultNamed } from './faults.ts';
import { runSeed } from './run-seed.ts';

export interface SeedJob {
  readonly first: number;
  readonly end: number;
  readonly step: number;
  readonly fault: string | null;
}

const job = workerData as SeedJob;
for (let seed = job.first; seed < job.end; seed += job.step) {
  parentPort?.postMessage(await runSeed(seed, faultNamed(job.fault)));
}
