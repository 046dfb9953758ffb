// `drover worker-runtime`: the HTTP runtime of the worker contract as a process, until a signal or
// its lifetime ends it.

import type { WorkerRuntimeRequest } from '../core/settings/worker-runtime.ts';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Refusal } from '../core/failure.ts';
import { parseListenAddress, type ListenAddress } from '../core/settings/listen-address.ts';
import { startWorkerRuntime, type WorkerRuntime } from '../workers/runtime/runtime.ts';
import { workerTimes } from '../workers/runtime/times.ts';
import { uploadBytes } from '../workers/wire.ts';
import { thisPlatform } from '../platform/this-platform.ts';

const tokenVariable = 'AGENT_TOKEN';
const defaultAddress = ':8080';
const defaultWorkspace = '/workspace';
/** Node's timers are limited to 24 days. */
const timerMsMax = 2 ** 31 - 1;
/** `SIGHUP` is sent when the connection that started the runtime is lost. */
const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Lines become garbage at once. Growing generations and V8's compilers would use 50 MB for a rate
 * that no reader reaches (measured by `npm run bench -- remote`).
 */
const memoryFlags = [
  '--semi-space-growth-factor=1',
  '--heap-growing-percent=20',
  '--no-opt',
  '--no-maglev',
];

/**
 * Resolves when the runtime has ended.
 * @throws Refusal
 */
export async function runWorkerRuntime(request: WorkerRuntimeRequest): Promise<void> {
  const { env, warn } = request;
  if (!thisPlatform.hasShell) {
    throw new Refusal(
      'platform',
      'The worker runtime needs Linux or macOS: it runs shell commands.',
    );
  }
  const { [tokenVariable]: token = '', ...rest } = env;
  if (token.trim() === '') {
    throw new Refusal(
      'no_token',
      `${tokenVariable} is not set. Set it to the secret that clients send as their bearer token.`,
    );
  }
  for (const flag of memoryFlags) setFlagsFromString(flag);
  const folder = resolve(request.workspace ?? defaultWorkspace);
  const started = await startWorkerRuntime({
    token: token.trim(),
    address: request.listen ?? addressOf(env),
    folder,
    env: definedOnly(rest),
    uploadBytes: request.uploadBytes ?? uploadBytes,
    times: workerTimes(env),
    warn,
  });
  if (!started.ok) throw new Refusal('cannot_start', started.error);
  const ended = endOf(request.lifetimeMs, warn);
  request.onListening({
    type: 'listening',
    url: urlOf(started.value),
    workspace: folder,
    pid: process.pid,
  });
  await ended;
  await started.value.close();
}

/** On a second signal, the runtime is already closing, which takes at most 15 s. */
async function endOf(lifetimeMs: number | null, warn: (sentence: string) => void): Promise<void> {
  await new Promise<void>((end) => {
    for (const signal of endSignals) process.on(signal, () => end());
    if (lifetimeMs === null) return;
    setTimeout(
      () => {
        warn('The lifetime of this runtime is over.');
        end();
      },
      Math.min(lifetimeMs, timerMsMax),
    ).unref();
  });
}

function addressOf(env: NodeJS.ProcessEnv): ListenAddress {
  const port = env['PORT']?.trim() ?? '';
  const set = env['AGENT_ADDR']?.trim() ?? '';
  const [name, text] =
    set === '' ? ['PORT', port === '' ? defaultAddress : `:${port}`] : ['AGENT_ADDR', set];
  const parsed = parseListenAddress(text);
  if (!parsed.ok) throw new Refusal('bad_address', `${name}: ${parsed.error}.`);
  return parsed.value;
}

function urlOf({ host, port }: WorkerRuntime): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}
