// The order in which jobs run: the longest path to the end first, and as many in parallel as the
// machine can handle.

import type { Job } from './job.ts';

export interface Blocked {
  readonly job: Job;
  /** The job that did not pass. */
  readonly by: string;
}

/** The jobs that run in parallel. */
export interface Room {
  /** Busy cores. */
  readonly cores: number;
  readonly jobs: number;
  /** The number of jobs with deadlines. */
  readonly timed: number;
}

/** The expected figures of jobs. */
export interface Expected {
  readonly lengthMs: (job: Job) => number;
  /** The mean number of cores that it uses. */
  readonly cores: (job: Job) => number;
}

/**
 * More than the number of cores, because a job computes in bursts: with a lower limit, a run used
 * 1.7 of two cores. A higher limit uses no core more, and delays all jobs.
 */
const overcommitted = 1.4;
/** Each job has separate processes and memory. */
const jobsPerCore = 3;
/** A job with deadlines must get a whole core when it needs one. */
const timedCoresMin = 1.2;
/** On two cores, one such job runs; on four cores, three. */
const timedPerCore = 0.75;

/** `cores`: the machine's number of cores. */
export function roomOf(cores: number): Room {
  return {
    cores: cores * overcommitted,
    jobs: Math.max(2, Math.ceil(cores * jobsPerCore)),
    timed: Math.max(1, Math.floor(cores * timedPerCore)),
  };
}

/**
 * Takes jobs and returns jobs: the caller starts the jobs that `next` returns and reports
 * `finished`. It uses no clock and no processes.
 */
export class JobQueue {
  readonly #room: Room;
  readonly #expected: Expected;
  readonly #waiting: Job[];
  readonly #running = new Map<string, Job>();
  readonly #passed = new Set<string>();

  constructor(jobs: readonly Job[], expected: Expected, room: Room) {
    this.#room = room;
    this.#expected = expected;
    const lengths = lengthsToTheEnd(jobs, expected.lengthMs);
    this.#waiting = [...jobs].sort(
      (a, b) => (lengths.get(b.name) ?? 0) - (lengths.get(a.name) ?? 0),
    );
  }

  get running(): readonly Job[] {
    return [...this.#running.values()];
  }

  get waiting(): readonly Job[] {
    return this.#waiting;
  }

  /**
   * Jobs to start now. A job that does not fit is skipped only while a job at least as heavy is
   * running: otherwise, light jobs would delay a heavy one until all of them have ended.
   */
  next(): readonly Job[] {
    const started: Job[] = [];
    const isReady = (job: Job): boolean => job.after.every((name) => this.#passed.has(name));
    for (const job of this.#waiting.filter(isReady)) {
      if (this.#fits(job)) {
        this.#running.set(job.name, job);
        this.#waiting.splice(this.#waiting.indexOf(job), 1);
        started.push(job);
      } else if (!this.running.some((other) => this.#cores(other) >= this.#cores(job))) break;
    }
    return started;
  }

  /** Returns the jobs that can never run because of it, which have left the queue. */
  finished(name: string, isPassed: boolean): readonly Blocked[] {
    this.#running.delete(name);
    if (isPassed) {
      this.#passed.add(name);
      return [];
    }
    const blocked: Blocked[] = [];
    const lost = [name];
    for (let by = lost.shift(); by !== undefined; by = lost.shift()) {
      for (const job of this.#waiting.filter(({ after }) => after.includes(by as string))) {
        this.#waiting.splice(this.#waiting.indexOf(job), 1);
        blocked.push({ job, by });
        lost.push(job.name);
      }
    }
    return blocked;
  }

  #cores(job: Job): number {
    const cores = this.#expected.cores(job);
    return job.isTimed ? Math.max(cores, timedCoresMin) : cores;
  }

  #fits(job: Job): boolean {
    const taken = this.running.reduce((sum, other) => sum + this.#cores(other), 0);
    // A job that is heavier than the machine must still run, alone.
    if (taken === 0) return true;
    const timed = this.running.filter(({ isTimed }) => isTimed).length;
    if (job.isTimed && timed >= this.#room.timed) return false;
    return (
      this.#running.size < this.#room.jobs && taken + this.#cores(job) <= this.#room.cores + 1e-9
    );
  }
}

/** The length of each job: its own time plus that of the longest chain of jobs that wait for it. */
function lengthsToTheEnd(
  jobs: readonly Job[],
  expectedMs: (job: Job) => number,
): ReadonlyMap<string, number> {
  const lengths = new Map<string, number>();
  const lengthOf = (job: Job): number => {
    const known = lengths.get(job.name);
    if (known !== undefined) return known;
    lengths.set(job.name, 0); // a circle ends here
    const later = jobs.filter(({ after }) => after.includes(job.name)).map(lengthOf);
    const length = expectedMs(job) + Math.max(0, ...later);
    lengths.set(job.name, length);
    return length;
  };
  for (const job of jobs) lengthOf(job);
  return lengths;
}
