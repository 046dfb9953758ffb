// `npm run soak -- --minutes 60 [--only simulation,crash,…] [--seed N] [--capacity N] [--patience
// N] [--log FILE] [--batch N]`: runs everything at its full size, with seeds derived from the
// clock, until the time is up. It can be stopped at any time (Ctrl-C, SIGTERM) and prints its
// results; a failure is printed with the command that reproduces it. `--batch` is the number of
// seeds in a simulation job. out/test/soak.log contains the same report after each job, even for a
// soak that was killed.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isGreen, type Outcome } from './job.ts';
import { roomOf } from './queue.ts';
import { failureText } from './report.ts';
import { patienceDefault, root } from './run-job.ts';
import { Run } from './run.ts';
import {
  neededJobs,
  partsOf,
  seedsPerJobDefault,
  type SoakJob,
  soakJobs,
  soakOrder,
} from './soak-plan.ts';
import { allJobs } from './suites.ts';
import { setUpSystem } from './system-packages.ts';
import { keptTimes } from './times.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    only: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    capacity: { type: 'string', default: String(availableParallelism()) },
    patience: { type: 'string', default: String(patienceDefault) },
    batch: { type: 'string', default: String(seedsPerJobDefault) },
    log: { type: 'string', default: join(root, 'out', 'test', 'soak.log') },
  },
});

const log = resolve(values.log);
/** Between the seeds of two rounds. */
const roundSeeds = 100_000;

class Soak {
  readonly #done = new Map<string, number>();
  readonly #failures: string[] = [];
  readonly #goals = new Map<string, string>();
  readonly #passed: string[] = [];
  readonly #begun: string;
  /** False if a prerequisite of others has failed. */
  isReady = true;

  constructor(begun: string, jobs: readonly SoakJob[]) {
    this.#begun = begun;
    for (const { name, unit, goal } of partsOf(jobs)) this.#goals.set(name, `of ${goal} ${unit}`);
    console.log(begun);
    this.#keep();
  }

  /** `own`: excludes jobs that others need first. */
  take(outcome: Outcome, own?: SoakJob): void {
    if (isGreen(outcome)) {
      this.#passed.push(`ok ${outcome.job}`);
      if (own !== undefined) this.#done.set(own.part, (this.#done.get(own.part) ?? 0) + own.count);
    } else {
      if (own === undefined) this.isReady = false;
      const replay = own === undefined ? `npm test -- ${outcome.job}` : own.replay;
      const text = `${failureText(outcome)}\nAgain: ${replay}`;
      this.#failures.push(text);
      console.log(`\n${text}\n`);
    }
    this.#keep();
  }

  tell(how: string): void {
    console.log(this.#report(how));
    this.#keep(how);
  }

  get passed(): number {
    return this.#passed.length;
  }

  get isGreen(): boolean {
    return this.#failures.length === 0;
  }

  #report(how: string): string {
    const failed = this.#failures.length;
    return [
      `\n${how}`,
      ...[...this.#goals].map(([part, goal]) => `${part}: ${this.#done.get(part) ?? 0} ${goal}`),
      ...(failed === 0 ? [] : [`\nWhat failed:\n\n${this.#failures.join('\n\n')}`]),
      `\n${this.passed} passed, ${failed} failed`,
    ].join('\n');
  }

  /** Always complete: after a kill, the file contains either the previous report or this one. */
  #keep(how = 'Under way, or killed.'): void {
    const text = [this.#begun, ...this.#passed, this.#report(how)].join('\n');
    writeFileSync(`${log}.new`, `${text}\n`);
    renameSync(`${log}.new`, log);
  }
}

function jobsOfRound(seed: number): readonly SoakJob[] {
  const all = soakJobs(allJobs(), seed, Number(values.batch));
  const only = values.only?.split(',') ?? null;
  const names = partsOf(all).map(({ name }) => name);
  const unknown = (only ?? []).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    console.error(`${unknown.join(', ')}: no such part. Parts: ${names.join(', ')}`);
    process.exit(2);
  }
  return all.filter(({ part }) => only === null || only.includes(part));
}

async function main(): Promise<number> {
  const minutes = Number(values.minutes);
  const first = Number(values.seed);
  const capacity = Number(values.capacity);
  const patience = Number(values.patience);
  const isCount = Number.isSafeInteger(Number(values.batch)) && Number(values.batch) > 0;
  const areSizes = [minutes, capacity, patience].every((size) => size > 0);
  if (!areSizes || !isCount || !Number.isSafeInteger(first)) {
    console.error('--minutes, --seed, --capacity, --patience and --batch take numbers');
    return 2;
  }
  mkdirSync(dirname(log), { recursive: true });
  const jobs = jobsOfRound(first);
  const problem = setUpSystem(new Set(jobs.map(({ job }) => job.suite)));
  if (problem !== null) {
    console.error(problem);
    return 3;
  }
  let ranks = soakOrder(jobs);
  const expected = {
    ...keptTimes(),
    lengthMs: ({ name }: { name: string }): number => ranks.get(name) ?? 0,
  };
  const run = new Run({ room: roomOf(capacity), expected, isVerbose: false, patience });
  const over = setTimeout(() => void run.stop(), minutes * 60_000);
  const soak = new Soak(`${minutes} minutes from seed ${first}`, jobs);
  await run.queue(neededJobs(allJobs(), jobs), (outcome) => soak.take(outcome));
  let round = jobs;
  for (let seed = first; !run.isStopped && soak.isReady;) {
    const before = soak.passed;
    const free = round.map(({ job }) => ({ ...job, after: [] }));
    await run.queue(free, (outcome) => {
      soak.take(
        outcome,
        round.find(({ job }) => job.name === outcome.job),
      );
    });
    // Nothing passes any more, so a further round would reveal nothing new.
    if (soak.passed === before) break;
    seed += roundSeeds;
    round = jobsOfRound(seed);
    ranks = soakOrder(round);
  }
  clearTimeout(over);
  await run.close();
  soak.tell(run.stopCode === 0 ? 'The end.' : 'Cut off.');
  return run.stopCode === 0 ? Number(!soak.isGreen) : run.stopCode;
}

process.exit(await main());
