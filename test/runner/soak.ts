// `npm run soak -- --minutes 60 [--only simulation,crash,…] [--seed N] [--capacity N]`: everything at its full size, with seeds
// of the clock, until the time is over. It can be cut off at any time (Ctrl-C, SIGTERM) and says what it has done; a failure
// comes with the command that repeats it. The words also go to out/test/soak.log, line by line.

import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { isGreen, type Outcome } from './job.ts';
import { roomOf } from './queue.ts';
import { failureText } from './report.ts';
import { root } from './run-job.ts';
import { Run } from './run.ts';
import { neededJobs, partsOf, type SoakJob, soakJobs, soakOrder } from './soak-plan.ts';
import { allJobs } from './suites.ts';
import { keptTimes } from './times.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    only: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    capacity: { type: 'string', default: String(availableParallelism()) },
  },
});

const log = join(root, 'out', 'test', 'soak.log');
/** Between the seeds of two rounds. */
const roundSeeds = 100_000;

function say(text: string): void {
  console.log(text);
  appendFileSync(log, `${text}\n`);
}

class Soak {
  readonly #done = new Map<string, number>();
  readonly #failures: string[] = [];
  readonly #goals = new Map<string, string>();
  passed = 0;
  /** False: something that others need first has failed. */
  isReady = true;

  /** `own`: not of what others need first. */
  take(outcome: Outcome, own?: SoakJob): void {
    if (isGreen(outcome)) {
      this.passed += 1;
      if (own === undefined) return;
      this.#done.set(own.part, (this.#done.get(own.part) ?? 0) + own.count);
      appendFileSync(log, `ok ${outcome.job}\n`);
      return;
    }
    if (own === undefined) this.isReady = false;
    const replay = own === undefined ? `npm test -- ${outcome.job}` : own.replay;
    const text = `${failureText(outcome)}\nAgain: ${replay}`;
    this.#failures.push(text);
    say(`\n${text}\n`);
  }

  plan(jobs: readonly SoakJob[]): void {
    for (const { name, unit, goal } of partsOf(jobs)) this.#goals.set(name, `of ${goal} ${unit}`);
  }

  tell(): void {
    for (const [part, goal] of this.#goals) say(`${part}: ${this.#done.get(part) ?? 0} ${goal}`);
    if (this.#failures.length > 0) say(`\nWhat failed:\n\n${this.#failures.join('\n\n')}`);
    say(`\n${this.passed} passed, ${this.#failures.length} failed`);
  }

  get isGreen(): boolean {
    return this.#failures.length === 0;
  }
}

function jobsOfRound(seed: number): readonly SoakJob[] {
  const all = soakJobs(allJobs(), seed);
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
  const [minutes, first, capacity] = [values.minutes, values.seed, values.capacity].map(Number);
  if (minutes === undefined || first === undefined || capacity === undefined) return 2;
  if (!(minutes > 0) || !Number.isSafeInteger(first) || !(capacity > 0)) {
    console.error('--minutes, --seed and --capacity take numbers');
    return 2;
  }
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, '');
  const jobs = jobsOfRound(first);
  let ranks = soakOrder(jobs);
  const expected = {
    ...keptTimes(),
    lengthMs: ({ name }: { name: string }): number => ranks.get(name) ?? 0,
  };
  const run = new Run({ room: roomOf(capacity), expected, isVerbose: false });
  const over = setTimeout(() => void run.stop(), minutes * 60_000);
  const soak = new Soak();
  soak.plan(jobs);
  say(`${minutes} minutes from seed ${first}`);
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
    // Nothing passes any more: a further round would not tell more.
    if (soak.passed === before) break;
    seed += roundSeeds;
    round = jobsOfRound(seed);
    ranks = soakOrder(round);
  }
  clearTimeout(over);
  await run.close();
  say(run.stopCode === 0 ? '\nThe end.' : '\nCut off.');
  soak.tell();
  return run.stopCode === 0 ? Number(!soak.isGreen) : run.stopCode;
}

process.exit(await main());
