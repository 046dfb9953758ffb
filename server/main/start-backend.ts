// Starts a detached backend for a caller and waits until it responds. Independent of the protocol.

import { spawn } from 'node:child_process';
import { closeSync, constants, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refusal, toRefusalKind } from '../core/failure.ts';
import { withoutGitCommand } from '../core/work/git-variables.ts';
import { projectPlaces } from '../project/project-places.ts';

export interface StartOptions {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

/** How long to wait for a newly started backend after another one has ended. */
const startWaitMaxMs = 20_000;
/**
 * How long to wait for a live backend, which may be slow on a busy machine. Asking again would make
 * it slower.
 */
const answerWaitMaxMs = 90_000;
const startLookMs = 20;
/**
 * How many backends one caller starts. Between two starts it waits, because another process may
 * have started one.
 */
const startsMax = 20;
const startAgainMs = 200;

/**
 * Starts the backend detached and waits until it responds. Of two simultaneous callers, one starts
 * it and both get it. If it is killed before it responds, or finds another one that is exiting, it
 * is started again.
 */
export async function startBackend<T>(
  options: StartOptions,
  connectRunning: () => Promise<T | null>,
): Promise<T> {
  const startMs = Date.now();
  let started = spawnBackend(options);
  for (let starts = 1; mayAnswer(Date.now() - startMs, started.end !== null);) {
    const client = await connectRunning();
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
  const { errors, end } = started;
  const words = existsSync(errors) ? readFileSync(errors, 'utf8').trim().slice(-2_000) : '';
  throw startFailure(words, end === null);
}

export function mayAnswer(waitedMs: number, hasEnded: boolean): boolean {
  return waitedMs < (hasEnded ? startWaitMaxMs : answerWaitMaxMs);
}

interface StartedBackend {
  readonly errors: string;
  /** Set if it ended before it responded. `again`: another start may succeed. */
  end: { readonly atMs: number; readonly again: boolean } | null;
}

/**
 * Opens the first file that a backend needs in the project's folder. If that fails, a backend could
 * not work either.
 */
function openLog(path: string): number {
  try {
    // If the folder was deleted, the backend restores its content. The checkout itself is never
    // recreated.
    if (!existsSync(dirname(path))) mkdirSync(dirname(path), { mode: 0o700 });
    // A link in its place, which a clone may have brought, is not followed.
    const { O_WRONLY, O_CREAT, O_TRUNC } = constants;
    const noFollow = (constants as Partial<typeof constants>).O_NOFOLLOW ?? 0;
    return openSync(path, O_WRONLY | O_CREAT | O_TRUNC | noFollow, 0o600);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Refusal(
      'unwritable',
      `${path} can't be written (${code}). Make its folder writable, or free some space.`,
    );
  }
}

function spawnBackend(options: StartOptions): StartedBackend {
  const errors = join(projectPlaces(options.root, null).folder, 'backend.start.log');
  const log = openLog(errors);
  const child = spawn(process.execPath, [...backendNodeArgs, backendProgram(), options.root], {
    cwd: options.root,
    env: withoutGitCommand(options.env),
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

/** Exit code of a backend that found another one running. */
export const exitAlreadyRunning = 75;

function startFailure(words: string, isAlive: boolean): Refusal {
  const line = words.split('\n').findLast((text) => text.startsWith('{"refusal"'));
  if (line !== undefined) {
    const { refusal } = JSON.parse(line) as { refusal: { kind: unknown; message: string } };
    return new Refusal(toRefusalKind(refusal.kind), refusal.message);
  }
  return new Refusal(
    'backend',
    `The backend did not start: ${words === '' ? withoutWords(isAlive) : words}`,
  );
}

function withoutWords(isAlive: boolean): string {
  if (!isAlive) return 'no reason was given';
  return `it has not answered for ${answerWaitMaxMs / 1_000} seconds; the machine may be too busy, so try again`;
}

/**
 * In the bundle, a file beside this one; from the sources, the entry itself, which Node runs
 * without a build.
 */
function backendProgram(): string {
  const bundled = fileURLToPath(new URL('./backend.cjs', import.meta.url));
  return existsSync(bundled)
    ? bundled
    : fileURLToPath(new URL('./backend-main.ts', import.meta.url));
}

/**
 * Limits V8's young generation: a backend lives long and mostly waits, and would otherwise keep the
 * memory of its busiest moment. Without V8's compilers it used 13 MB less but could not keep up
 * with an agent that floods its output, and switching them on later had no effect.
 */
export const backendNodeArgs: readonly string[] = [
  '--no-warnings',
  ...(process.versions['electron'] === undefined ? ['--max-semi-space-size=2'] : []),
];
