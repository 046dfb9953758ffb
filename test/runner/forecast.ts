// Computes how long a run takes from the stored times: the queue, without processes.

import type { Job } from './job.ts';
import { type Expected, JobQueue, type Room } from './queue.ts';

export interface Forecast {
  readonly durationMs: number;
  readonly cpuMs: number;
}

interface Running {
  readonly job: Job;
  readonly cores: number;
  /** The remaining time if the machine is otherwise idle. */
  leftMs: number;
}

/** If jobs compute more than the cores can, all of their computing is delayed. */
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
    const slower = slowerOn(cores, running);
    const stepMs = Math.min(...[...running].map((each) => each.leftMs / speedOf(each, slower)));
    nowMs += stepMs;
    for (const each of running) {
      each.leftMs -= stepMs * speedOf(each, slower);
      if (each.leftMs > 1e-6) continue;
      running.delete(each);
      queue.finished(each.job.name, true);
    }
  }
}

/** A job's waits keep their duration; its computing takes longer by this factor. */
function speedOf({ cores }: Running, slower: number): number {
  return 1 / (1 - cores + cores * slower);
}

/** The smallest factor with which all of them together compute no more than the cores can. */
function slowerOn(cores: number, running: ReadonlySet<Running>): number {
  const takenAt = (slower: number): number =>
    [...running].reduce((sum, each) => sum + each.cores * speedOf(each, slower), 0);
  let [low, high] = [1, Math.max(1, running.size / cores)];
  if (takenAt(low) <= cores) return low;
  while (high - low > 1e-6) {
    const middle = (low + high) / 2;
    if (takenAt(middle) > cores) low = middle;
    else high = middle;
  }
  return high;
}
