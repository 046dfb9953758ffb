// The jobs of a soak: every suite at its full size, and the random tests repeatedly with other
// seeds.

import type { Job } from './job.ts';

export interface SoakJob {
  readonly job: Job;
  readonly part: string;
  /** Its contribution to the part: this many seeds, kills, schedules or files. */
  readonly count: number;
  /** The command that repeats it. */
  readonly replay: string;
}

/** The unit of a part, and its number in a full round. */
export interface SoakPart {
  readonly name: string;
  readonly unit: string;
  readonly goal: number;
}

const simulatedSeeds = 10_000;
/** Starting a process takes half a second; with fewer seeds, much of a soak would be starts. */
export const seedsPerJobDefault = 25;
const kills = 1_000;
const killsPerJob = 50;
const powerCuts = 60;
const cutsPerJob = 12;
const schedulesFile = 'test/neighbours/schedules.test.ts';
const neighbours = 1_000;
const neighboursPerJob = 25;
const schedules = 20;
const cutSeconds = 8;
const minuteMs = 60_000;

/** `seed`: all other seeds of the round are derived from it. `gate`: the jobs of `npm test`. */
export function soakJobs(
  gate: readonly Job[],
  seed: number,
  seedsPerJob = seedsPerJobDefault,
): readonly SoakJob[] {
  return [
    ...simulationJobs(seed, seedsPerJob),
    ...repeatedFile(gate, 'test/e2e/crash.test.ts', 'crash', kills, killsPerJob, seed),
    ...repeatedFile(gate, 'test/e2e/power-cut.test.ts', 'power-cut', powerCuts, cutsPerJob, seed),
    ...repeatedFile(gate, schedulesFile, 'neighbours', neighbours, neighboursPerJob, seed),
    ...scheduleJobs(gate, seed),
    ...suiteJobs(gate, seed),
  ];
}

export function partsOf(jobs: readonly SoakJob[]): readonly SoakPart[] {
  const units: Readonly<Record<string, string>> = {
    simulation: 'seeds',
    crash: 'kills',
    'power-cut': 'power cuts',
    schedules: 'schedules',
    neighbours: 'schedules',
  };
  return [...new Set(jobs.map(({ part }) => part))].map((name) => {
    const own = jobs.filter(({ part }) => part === name);
    const goal = own.reduce((sum, { count }) => sum + count, 0);
    return { name, unit: units[name] ?? 'files', goal };
  });
}

/**
 * Rank of each job, from 1 down to 0, so that at any time, each part has completed the same share
 * of its goal.
 */
export function soakOrder(jobs: readonly SoakJob[]): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  for (const { name } of partsOf(jobs)) {
    const own = jobs.filter(({ part }) => part === name);
    own.forEach(({ job }, at) => ranks.set(job.name, 1 - (at + 0.5) / own.length));
  }
  return ranks;
}

/** Jobs that others need first, which count for nothing. */
export function neededJobs(gate: readonly Job[], jobs: readonly SoakJob[]): readonly Job[] {
  const names = new Set(jobs.flatMap(({ job }) => job.after));
  for (const name of names) {
    for (const before of gate.find((job) => job.name === name)?.after ?? []) names.add(before);
  }
  return gate.filter(({ name }) => names.has(name));
}

function simulationJobs(seed: number, seedsPerJob: number): readonly SoakJob[] {
  return Array.from({ length: Math.ceil(simulatedSeeds / seedsPerJob) }, (_, at) => {
    const from = seed + at * seedsPerJob;
    const args = ['--seeds', String(seedsPerJob), '--from', String(from)];
    const job: Job = {
      name: `simulation from ${from}`,
      suite: 'simulation',
      tier: 'soak',
      isTimed: false,
      after: [],
      program: process.execPath,
      args: ['test/simulation/main.ts', ...args],
      env: {},
      counting: 'exit-code',
      limitMs: 30 * minuteMs,
      isRetried: false,
    };
    const replay = `npm run simulate -- ${args.join(' ')}`;
    return { job, part: 'simulation', count: seedsPerJob, replay };
  });
}

function repeatedFile(
  gate: readonly Job[],
  file: string,
  part: string,
  goal: number,
  perJob: number,
  seed: number,
): readonly SoakJob[] {
  const base = named(gate, file);
  return Array.from({ length: Math.ceil(goal / perJob) }, (_, at) => {
    return { ...inSoak(base, `${part} of seed ${seed + at}`, seed + at), part, count: perJob };
  });
}

function scheduleJobs(gate: readonly Job[], seed: number): readonly SoakJob[] {
  const base = named(gate, 'test/fleet/show-2.test.ts');
  return Array.from({ length: schedules }, (_, at) => {
    const own = String(seed + at);
    const args = ['--seeds', '1', '--from', own, '--cut', String(cutSeconds)];
    const job: Job = {
      ...base,
      name: `schedule ${own}`,
      args: ['test/fleet/run-schedules.ts', ...args],
      counting: 'last-line',
      isRetried: false,
    };
    const replay = `npm run schedules -- ${args.join(' ')}`;
    return { job, part: 'schedules', count: 1, replay };
  });
}

/** These run repeatedly as separate parts. */
const repeated = [
  'test/e2e/crash.test.ts',
  'test/e2e/power-cut.test.ts',
  'test/simulation/seeds.test.ts',
  schedulesFile,
];

/** These have planted faults and scripts in addition to their random tests. */
const hasFaults: ReadonlySet<string> = new Set(['simulation', 'neighbours']);

function suiteJobs(gate: readonly Job[], seed: number): readonly SoakJob[] {
  const tests = gate.filter(({ counting, name }) => {
    return counting !== 'exit-code' && !repeated.includes(name);
  });
  return tests.map((job) => {
    const part = hasFaults.has(job.suite) ? 'faults' : job.suite;
    return { ...inSoak(job, job.name, seed), part, count: 1 };
  });
}

function inSoak(base: Job, name: string, seed: number): Pick<SoakJob, 'job' | 'replay'> {
  const env = { DROVER_TEST_TIER: 'soak', DROVER_SEED: String(seed) };
  const words = Object.entries(env).map((entry) => entry.join('='));
  const file = base.name.includes(' ') ? `'${base.name}'` : base.name;
  const replay = `${words.join(' ')} npm test -- --no-retries ${file}`;
  return { job: { ...base, name, env: { ...base.env, ...env }, isRetried: false }, replay };
}

function named(gate: readonly Job[], name: string): Job {
  const found = gate.find((job) => job.name === name);
  if (found === undefined) throw new Error(`there is no test ${name}`);
  return found;
}
