// The times of the worker contract, in milliseconds. Tests bring shorter ones.

import { jobKeptMs, keepaliveMs, killAfterMs } from '../wire.ts';

export interface WorkerTimes {
  readonly jobKeptMs: number;
  readonly keepaliveMs: number;
  readonly killAfterMs: number;
  /** A reader that has taken nothing for so long is not waited for. */
  readonly stalledMs: number;
  /** Until the headers of a request must be there. */
  readonly headersMs: number;
}

const headersMs = 10_000;
const stalledMs = 1000;

const variables = {
  jobKeptMs: 'DROVER_WORKER_KEEP_MS',
  keepaliveMs: 'DROVER_WORKER_KEEPALIVE_MS',
  killAfterMs: 'DROVER_WORKER_KILL_MS',
  stalledMs: 'DROVER_WORKER_STALLED_MS',
  headersMs: 'DROVER_WORKER_HEADERS_MS',
} as const;

/** Where `DROVER_TEST=1`, the environment can change each of them. */
export function workerTimes(env: NodeJS.ProcessEnv): WorkerTimes {
  const times = { jobKeptMs, keepaliveMs, killAfterMs, stalledMs, headersMs };
  if (env['DROVER_TEST'] !== '1') return times;
  const of = (key: keyof WorkerTimes): number => {
    const text = env[variables[key]] ?? '';
    return /^\d{1,9}$/.test(text) ? Number(text) : times[key];
  };
  return {
    jobKeptMs: of('jobKeptMs'),
    keepaliveMs: of('keepaliveMs'),
    killAfterMs: of('killAfterMs'),
    stalledMs: of('stalledMs'),
    headersMs: of('headersMs'),
  };
}
