// How long a run takes by the times that are kept: the queue, without processes.

import type { Job } from './job.ts';
import { type Expected, JobQueue, type Room } from './queue.ts';

export interface Forecast {
  readonly durationMs: number;
  readonly cpuMs: number;
}

interface Running {
  readonly job: Job;
  readonly cores: number;
  /** With the machine for itself. */
  leftMs: number;
}

/** Where more is computed than there are cores, everything that computes gets its share later. */
export function forecast(
  jobs: readonly Job[],
  expected: Expected,
  room: Room,
  cores: number,
): Forecast {
  const queue = new JobQueue(jobs, expected, room);
  const running = new Set<Running>();
  const cpuMs = jobs.reduce((sum, job) => sum + expected.lengthMs(job) * expected.cores(job), 0);
  for (let nowMs = 0; ;) {
    for (const job of queue.next()) {
      running.add({ job, cores: expected.cores(job), leftMs: expected.lengthMs(job) });
    }
    if (running.size === 0) return { durationMs: nowMs, cpuMs };
    const wanted = [...running].reduce((sum, each) => sum + each.cores, 0);
    const slower = Math.max(1, wanted / cores);
    const speedOf = (each: Running): number => 1 / (1 - each.cores + each.cores * slower);
    const stepMs = Math.min(...[...running].map((each) => each.leftMs / speedOf(each)));
    nowMs += stepMs;
    for (const each of running) {
      each.leftMs -= stepMs * speedOf(each);
      if (each.leftMs > 1e-6) continue;
      running.delete(each);
      queue.finished(each.job.name, true);
    }
  }
}
