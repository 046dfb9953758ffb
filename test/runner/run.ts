// Runs jobs in parallel, prints each when it ends, and stops everything that it has started.

import { chmodSync, mkdtempSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import { isGreen, type Job, type Outcome } from './job.ts';
import { blockedOutcome } from './outcome.ts';
import { JobCpu } from './job-cpu.ts';
import { type Expected, JobQueue, type Room } from './queue.ts';
import { jobLine } from './report.ts';
import { watchOver } from './left-behind.ts';
import { type RunningJob, startJob } from './run-job.ts';

export interface RunOptions {
  readonly room: Room;
  readonly expected: Expected;
  /** Shows the output of a job even if it passed. */
  readonly isVerbose: boolean;
  /** How long tests wait, as a factor. */
  readonly patience?: number;
}

/** If no job has ended for this long, the running jobs are printed. */
const silentMaxMs = 60_000;
const lookEveryMs = 5_000;

/** Exit codes of a run that a signal has stopped. */
const stopCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export class Run {
  readonly #beganMs = performance.now();
  readonly #beganCpuMs = machineCpuMs();
  readonly #folder = temporaryFolder();
  readonly #running = new Set<RunningJob>();
  #started = 0;
  #saidMs = performance.now();
  #isStopped = false;
  #stopCode = 0;
  readonly #options: RunOptions;
  readonly #ticking: NodeJS.Timeout;
  readonly #cpu = new JobCpu();
  readonly #watch = watchOver(this.#folder);

  constructor(options: RunOptions) {
    this.#options = options;
    this.#ticking = setInterval(() => this.#sayWhatRuns(), lookEveryMs);
    for (const [name, code] of Object.entries(stopCodes)) {
      process.once(name, () => {
        console.log(`\n${name}: ending what is running`);
        this.#stopCode = code;
        void this.stop();
      });
    }
  }

  /**
   * Runs jobs in parallel until all have ended, or the run is stopped; `ended` is called for each.
   */
  async queue(jobs: readonly Job[], ended: (outcome: Outcome) => void): Promise<void> {
    const queue = new JobQueue(jobs, this.#options.expected, this.#options.room);
    while (!this.#isStopped) {
      for (const job of queue.next()) this.#running.add(this.#start(job));
      if (this.#running.size === 0) return;
      const first = [...this.#running].map(async (each) => ({ each, outcome: await each.outcome }));
      const { each, outcome } = await Promise.race(first);
      this.#running.delete(each);
      if (this.#isStopped) return;
      const blocked = queue.finished(outcome.job, isGreen(outcome));
      for (const own of [outcome, ...blocked.map(({ job, by }) => blockedOutcome(job, by))]) {
        this.#say(own);
        ended(own);
      }
    }
  }

  #start(job: Job): RunningJob {
    this.#started += 1;
    // All of the same length, so that no job's folder is a prefix of another's.
    const folder = join(this.#folder, String(this.#started).padStart(3, '0'));
    return startJob(job, folder, this.#cpu, this.#options.patience);
  }

  #say(outcome: Outcome): void {
    this.#saidMs = performance.now();
    console.log(jobLine(outcome, performance.now() - this.#beganMs));
    if (this.#options.isVerbose || !isGreen(outcome)) console.log(outcome.output);
  }

  #sayWhatRuns(): void {
    if (performance.now() - this.#saidMs < silentMaxMs || this.#running.size === 0) return;
    this.#saidMs = performance.now();
    const names = [...this.#running].map(({ job, beganMs }) => {
      return `${job.name} (${Math.round((performance.now() - beganMs) / 1_000)} s)`;
    });
    console.log(`        running: ${names.join(', ')}`);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  times(): { readonly durationMs: number; readonly machineCpuMs: number } {
    const durationMs = performance.now() - this.#beganMs;
    return { durationMs, machineCpuMs: machineCpuMs() - this.#beganCpuMs };
  }

  /** Stops everything that was started. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#running].map((running) => running.end()));
  }

  /** The code of the signal that stopped it, or 0. */
  get stopCode(): number {
    return this.#stopCode;
  }

  /** Called at the end: all jobs have ended, or are stopped now. */
  async close(): Promise<void> {
    clearInterval(this.#ticking);
    this.#cpu.close();
    if (this.#isStopped) await this.stop();
    removeFolder(this.#folder);
    this.#watch.close();
  }
}

/** Short, because sockets are below it, and accessible to programs that do not run as root. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dt'));
  chmodSync(folder, 0o755);
  return folder;
}

function machineCpuMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys, 0);
}
