// The time limits of the worker contract, in milliseconds. Tests use shorter ones.

import { typedKeys } from '../../core/keys-of.ts';
import { jobKeptMs, keepaliveMs, killAfterMs } from '../wire.ts';

export interface WorkerTimes {
  readonly jobKeptMs: number;
  readonly keepaliveMs: number;
  readonly killAfterMs: number;
  /** A reader that has read nothing for this long is not waited for. */
  readonly stalledMs: number;
  /** Time limit for a request's headers. */
  readonly headersMs: number;
  /** During an upload, the time limit for the next bytes, because its connection may be dead. */
  readonly uploadIdleMs: number;
}

const usual: WorkerTimes = {
  jobKeptMs,
  keepaliveMs,
  killAfterMs,
  stalledMs: 1000,
  headersMs: 10_000,
  uploadIdleMs: 120_000,
};

const variables: Readonly<Record<keyof WorkerTimes, string>> = {
  jobKeptMs: 'DROVER_WORKER_KEEP_MS',
  keepaliveMs: 'DROVER_WORKER_KEEPALIVE_MS',
  killAfterMs: 'DROVER_WORKER_KILL_MS',
  stalledMs: 'DROVER_WORKER_STALLED_MS',
  headersMs: 'DROVER_WORKER_HEADERS_MS',
  uploadIdleMs: 'DROVER_WORKER_UPLOAD_IDLE_MS',
};

/** With `DROVER_TEST=1`, the environment can change each of them. */
export function workerTimes(env: NodeJS.ProcessEnv): WorkerTimes {
  if (env['DROVER_TEST'] !== '1') return usual;
  const times = { ...usual };
  for (const key of typedKeys(usual)) {
    const text = env[variables[key]] ?? '';
    if (/^\d{1,9}$/.test(text)) times[key] = Number(text);
  }
  return times;
}
