// `npm test [-- suite …]`: all suites by one queue, and one closing line of numbers. Options: `--times` prints the table of
// the last run, `--keep-times` stores this run's times for the order of later ones, `--no-retries` counts a first failure,
// `--verbose` shows what each job wrote, `--capacity N` runs jobs of so much weight side by side.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isGreen, type Job, type Outcome } from './job.ts';
import { blockedOutcome } from './outcome.ts';
import { JobQueue } from './queue.ts';
import { closingText, fileTable, jobLine, timesTables } from './report.ts';
import { judge, retriesFor, retriesMax } from './retries.ts';
import { type RunningJob, startJob } from './run-job.ts';
import { allJobs, selectJobs, suiteNames } from './suites.ts';
import { keepTimes, keptTimes, readLastRun, storeRun } from './times.ts';

const { values, positionals } = parseArgs({
  options: {
    times: { type: 'boolean', default: false },
    'keep-times': { type: 'boolean', default: false },
    'no-retries': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    capacity: { type: 'string' },
  },
  allowPositionals: true,
});

/** On two cores: one job that computes beside one that waits, or three that wait. */
const capacity = Number(values.capacity ?? availableParallelism() + 1);
/** When nothing has ended for so long, what is running is said. */
const silentMaxMs = 60_000;
const expectedMs = keptTimes();

class Run {
  readonly #beganMs = performance.now();
  readonly #beganCpuMs = machineCpuMs();
  readonly #folder = temporaryFolder();
  readonly #running = new Set<RunningJob>();
  #started = 0;
  #saidMs = performance.now();
  #isStopped = false;

  /** Runs jobs side by side until all have ended, or the run is stopped; `ended` is told of each. */
  async queue(jobs: readonly Job[], ended: (outcome: Outcome) => void): Promise<void> {
    const queue = new JobQueue(jobs, expectedMs, capacity);
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
    // Of one length: no job's folder begins like that of another.
    return startJob(job, join(this.#folder, String(this.#started).padStart(3, '0')));
  }

  #say(outcome: Outcome): void {
    this.#saidMs = performance.now();
    console.log(jobLine(outcome, performance.now() - this.#beganMs));
    if (values.verbose || !isGreen(outcome)) console.log(outcome.output);
  }

  sayWhatRuns(): void {
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

  /** Ends everything that was started. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#running].map((running) => running.end()));
  }

  removeFolder(): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Short, since sockets live below it; and open to programs that do not run as root. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dt'));
  chmodSync(folder, 0o755);
  return folder;
}

function machineCpuMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys, 0);
}

async function runJobs(jobs: readonly Job[]): Promise<number> {
  const run = new Run();
  const ticking = setInterval(() => run.sayWhatRuns(), 5_000);
  let stopCode = 0;
  for (const [name, code] of stopSignals) {
    process.once(name, () => {
      console.log(`\n${name}: ending what is running`);
      stopCode = code;
      void run.stop();
    });
  }
  const first: Outcome[] = [];
  await run.queue(jobs, (outcome) => first.push(outcome));
  const second = run.isStopped ? [] : await runAgain(run, jobs, first);
  clearInterval(ticking);
  if (run.isStopped) await run.stop();
  run.removeFolder();
  if (run.isStopped) first.push(cutOff(first.length, jobs.length));
  const judged = judge(first, second);
  const last = { outcomes: judged.outcomes, ...run.times() };
  storeRun(last);
  if (values['keep-times']) keepTimes(allJobs(), first);
  console.log(`\n${timesTables(last)}\n\n${closingText(judged)}`);
  return run.isStopped ? stopCode : Number(!judged.outcomes.every(isGreen));
}

/** A run that was stopped has not passed. */
function cutOff(ended: number, of: number): Outcome {
  const title = `was cut off: ${ended} of ${of} jobs had ended`;
  const times = { durationMs: 0, cpuMs: 0, files: [], output: '' };
  const failures = [{ title, why: '' }];
  return { job: 'the run', suite: 'the run', passed: 0, failures, isBlocked: true, ...times };
}

const stopSignals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

/** Failures that may come from what ran beside them: each once more, in turn, with nothing beside it. */
async function runAgain(
  run: Run,
  jobs: readonly Job[],
  first: readonly Outcome[],
): Promise<Outcome[]> {
  const second: Outcome[] = [];
  const again = values['no-retries'] ? [] : retriesFor(jobs, first);
  if (again.length > retriesMax) {
    console.log(`\n${again.length} files failed: too many to run each once more.`);
    return second;
  }
  if (again.length > 0) console.log('\nOnce more, each alone:');
  for (const job of again) {
    await run.queue([{ ...job, after: [] }], (outcome) => second.push(outcome));
  }
  return second;
}

function printTimes(): number {
  const last = readLastRun();
  if (last === null) {
    console.error('No run has stored its times yet: run npm test first.');
    return 1;
  }
  console.log(`${fileTable(last.outcomes)}\n\n${timesTables(last)}`);
  return 0;
}

async function main(): Promise<number> {
  if (values.times) return printTimes();
  const jobs = allJobs();
  const known = [...suiteNames(jobs), ...jobs.map(({ name }) => name)];
  const unknown = positionals.filter((name) => !known.includes(name));
  if (unknown.length > 0 || !Number.isInteger(capacity) || capacity < 1) {
    const suites = suiteNames(jobs).join(', ');
    console.error(
      unknown.length > 0
        ? `${unknown.join(', ')}: no such suite or file. Suites: ${suites}`
        : '--capacity takes a whole number from 1',
    );
    return 2;
  }
  return await runJobs(selectJobs(jobs, positionals));
}

process.exit(await main());
