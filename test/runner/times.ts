// Stored times: `times.json` determines the queue's order, and the last run's table can be printed
// again.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isGreen, type Job, type Outcome } from './job.ts';
import type { Expected } from './queue.ts';
import { root } from './run-job.ts';

/** The times of a job: seconds from start to end, and seconds of CPU. */
type KeptTimes = Readonly<Record<string, readonly [seconds: number, cpuSeconds: number]>>;

const keptFile = join(import.meta.dirname, 'times.json');
const lastRunFile = join(root, 'out', 'test', 'last-run.json');
/** The times of a job that no run has timed yet. */
const unknown = [20, 10] as const;
/**
 * Cores used by one job: even a waiting job sometimes computes, and a computing job waits for its
 * children.
 */
const coresMin = 0.15;
const coresMax = 1;

const readKept = (): KeptTimes => JSON.parse(readFileSync(keptFile, 'utf8')) as KeptTimes;

export function keptTimes(): Expected {
  const kept = readKept();
  const timesOf = ({ name }: Job): readonly [number, number] => kept[name] ?? unknown;
  return {
    lengthMs: (job) => timesOf(job)[0] * 1_000,
    cores: (job) => {
      const [seconds, cpuSeconds] = timesOf(job);
      return Math.min(coresMax, Math.max(coresMin, cpuSeconds / Math.max(seconds, 0.1)));
    },
  };
}

/** Jobs whose position in the queue is a guess. */
export function untimed(jobs: readonly Job[], kept = readKept()): readonly string[] {
  return jobs.map(({ name }) => name).filter((name) => kept[name] === undefined);
}

/** Only for passed jobs; a job that no longer exists is dropped. */
export function keepTimes(jobs: readonly Job[], outcomes: readonly Outcome[]): void {
  const kept = readKept();
  const timed = new Map<string, readonly [number, number]>(Object.entries(kept));
  const seconds = (ms: number): number => Number((ms / 1_000).toFixed(1));
  for (const { job, durationMs, cpuMs } of outcomes.filter(isGreen)) {
    timed.set(job, [seconds(durationMs), seconds(cpuMs)]);
  }
  const lines = jobs
    .map(({ name }) => name)
    .sort()
    .flatMap((name) => {
      const times = timed.get(name);
      return times === undefined ? [] : [`  ${JSON.stringify(name)}: [${times.join(', ')}]`];
    });
  writeFileSync(keptFile, `{\n${lines.join(',\n')}\n}\n`);
}

export interface LastRun {
  readonly outcomes: readonly Outcome[];
  readonly durationMs: number;
  readonly machineCpuMs: number;
}

export function storeRun(run: LastRun): void {
  mkdirSync(dirname(lastRunFile), { recursive: true });
  const outcomes = run.outcomes.map((outcome) => ({ ...outcome, output: '' }));
  writeFileSync(lastRunFile, JSON.stringify({ ...run, outcomes }));
}

/** Returns null if no times were stored. */
export function readLastRun(): LastRun | null {
  try {
    return JSON.parse(readFileSync(lastRunFile, 'utf8')) as LastRun;
  } catch {
    return null;
  }
}
