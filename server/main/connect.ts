// How a command reaches its project: a running backend, one started for it, or the same handlers in its own process.

import { spawn } from 'node:child_process';
import { existsSync, openSync, closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refusal } from '../core/failure.ts';
import type { Client, Params } from '../protocol/api.ts';
import { connectSocket } from '../rpc/transport/client.ts';
import { ConnectFailure } from '../rpc/transport/errors.ts';
import { localClient } from '../rpc/transport/local.ts';
import { openProject, type Environment, type SettingFlags } from './compose.ts';
import { dataOnlyHandlers, feedOf } from './handlers.ts';
import { isAlive, placesOf, readAddress } from './places.ts';

export { doctor } from './doctor.ts';
export { initProject } from './init.ts';
export { findProject } from './places.ts';
export { runBackend } from './backend.ts';

export interface OpenClientOptions {
  readonly root: string;
  readonly need: 'data' | 'engine' | 'existing';
  readonly env: NodeJS.ProcessEnv;
  readonly settingsFlags: Record<string, unknown>;
}

export async function openClient(options: OpenClientOptions): Promise<Client | null> {
  const running = await connectRunning(options.root);
  if (running !== null) return withEnvironment(running, options.env);
  switch (options.need) {
    case 'existing':
      return null;
    case 'engine':
      return withEnvironment(await startBackend(options), options.env);
    case 'data':
      return openLocal(options);
  }
}

/** The backend that is alive, or null. One that is older and leaves counts as gone. */
export async function connectRunning(root: string): Promise<Client | null> {
  const address = readAddress(placesOf(root, null).address);
  if (address === null || !isAlive(address)) return null;
  try {
    return await connectSocket(address);
  } catch (error) {
    if (
      error instanceof ConnectFailure &&
      (error.kind === 'unreachable' || error.kind === 'leaving')
    )
      return null;
    throw error instanceof ConnectFailure ? new Refusal('backend', error.message) : error;
  }
}

/** Runs are given the caller's environment: what agents may see of it is the backend's decision. */
function withEnvironment(client: Client, env: NodeJS.ProcessEnv): Client {
  const given = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return {
    call: (name, params) => {
      if (name !== 'run.start' && name !== 'run.resume') return client.call(name, params);
      const more = { ...(params as Params<'run.start'>), env: given };
      return client.call(name, more as typeof params);
    },
    follow: (after, onEvents, onEnd) => client.follow(after, onEvents, onEnd),
    close: () => client.close(),
  };
}

async function openLocal(options: OpenClientOptions): Promise<Client> {
  const project = await openProject(
    options.root,
    options.env as Environment,
    options.settingsFlags as SettingFlags,
  );
  return localClient(dataOnlyHandlers(project), feedOf(project.store), () => {
    void project.close();
  });
}

const startWaitMaxMs = 20_000;
const startLookMs = 20;
/** How often one caller starts a backend; between two starts it waits for one that somebody else may have started. */
const startsMax = 20;
const startAgainMs = 200;

/**
 * Starts the backend detached and waits until it answers. Two callers at once: one starts it, both get it. One that is
 * killed before it answers, or that finds a leaving one still there, is started again.
 */
async function startBackend(options: OpenClientOptions): Promise<Client> {
  await checkStartable(options);
  const endMs = Date.now() + startWaitMaxMs;
  let started = spawnBackend(options);
  for (let starts = 1; Date.now() < endMs;) {
    const client = await connectRunning(options.root);
    if (client !== null) return client;
    const { end } = started;
    if (end !== null) {
      if (!end.again || starts >= startsMax) break;
      if (Date.now() - end.atMs >= startAgainMs) {
        started = spawnBackend(options);
        starts += 1;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, startLookMs));
  }
  const { errors } = started;
  const words = existsSync(errors) ? readFileSync(errors, 'utf8').trim().slice(-2_000) : '';
  throw startFailure(words);
}

interface StartedBackend {
  readonly errors: string;
  /** Set when it ended before it answered; `again`: another start can do better. */
  end: { readonly atMs: number; readonly again: boolean } | null;
}

/** The first file that a backend needs in the project's folder: where it fails, a backend could not work either. */
function openLog(path: string): number {
  try {
    return openSync(path, 'w', 0o600);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Refusal(
      'unwritable',
      `${path} can't be written (${code}); make its folder writable for you, or free some space`,
    );
  }
}

function spawnBackend(options: OpenClientOptions): StartedBackend {
  const errors = join(placesOf(options.root, null).folder, 'backend.start.log');
  const log = openLog(errors);
  const child = spawn(process.execPath, [...nodeArgs(), backendProgram(), options.root], {
    cwd: options.root,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'ignore', log],
  });
  closeSync(log);
  const started: StartedBackend = { errors, end: null };
  child.on('exit', (code) => {
    started.end = { atMs: Date.now(), again: code === null || code === exitAlreadyRunning };
  });
  child.on('error', () => (started.end = { atMs: Date.now(), again: false }));
  child.unref();
  return started;
}

/** Exit code of a backend that found another one at work. */
export const exitAlreadyRunning = 75;

function startFailure(words: string): Refusal {
  const line = words.split('\n').findLast((text) => text.startsWith('{"refusal"'));
  if (line !== undefined) {
    const { refusal } = JSON.parse(line) as { refusal: { kind: string; message: string } };
    return new Refusal(refusal.kind, refusal.message);
  }
  return new Refusal(
    'backend',
    `the backend did not start: ${words === '' ? 'no reason was given' : words}`,
  );
}

/** What would stop the backend at once is said here, in the caller's own words. */
async function checkStartable(options: OpenClientOptions): Promise<void> {
  const project = await openProject(
    options.root,
    options.env as Environment,
    options.settingsFlags as SettingFlags,
  );
  await project.close();
}

/** Bundled: a file beside this one. From the sources: the entry itself, run by Node without a build. */
function backendProgram(): string {
  const bundled = fileURLToPath(new URL('./backend.js', import.meta.url));
  return existsSync(bundled)
    ? bundled
    : fileURLToPath(new URL('./backend-main.ts', import.meta.url));
}

function nodeArgs(): readonly string[] {
  return ['--no-warnings'];
}
