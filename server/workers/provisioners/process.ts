// Workers on this machine: Drover's runtime on loopback, outside of its caller's process tree, so
// that an agent's work can still be downloaded while its attempt is being stopped. It has no
// sandbox.

import { spawn } from 'node:child_process';
import { type FSWatcher, mkdirSync, readdirSync, readFileSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { err, ok, type Result } from '../../core/failure.ts';
import { toSingleLine } from '../client/request.ts';
import type { Provisioner, StartOutside } from './port.ts';

export interface ProcessOptions {
  /** Folder of the workers. Each has a subfolder as long as it exists. */
  readonly folder: string;
  /** How the runtime is started, without its options. */
  readonly program: string;
  readonly args: readonly string[];
  /** The runtime's own variables, such as PATH. */
  readonly env: Readonly<Record<string, string>>;
  /** Kills every process with this marker. `first`: the oldest of them, if known. */
  readonly endMarked: (marker: string, first: StartedRuntime | null) => Promise<void>;
  /** Starts a program so that it does not end with the process that starts it. */
  readonly startOutside: StartOutside;
  readonly markerVariable: string;
  /** The start time of a process as reported by the system. Returns null if it does not exist. */
  readonly startTimeOf: (pid: number) => string | null;
}

interface StartedRuntime {
  readonly pid: number;
  readonly startTime: string;
}

/** The shell exits at once, so that its child is not in our process tree. */
const detachScript = `
out=$1
shift
"$@" > "$out/out" 2> "$out/err" < /dev/null &
`;

const startMs = 30_000;
/** Poll intervals on systems with and without notifications. */
const watchedPollMs = 250;
const pollMs = 20;
const namePattern = /^drv-[0-9a-f]{8}-\d{1,6}$/;

export function createProcessProvisioner(options: ProcessOptions): Provisioner {
  /** Null if it ended before its start time could be read. */
  const runtimes = new Map<string, StartedRuntime | null>();
  const folderOf = (name: string): string => join(options.folder, name);
  return {
    kind: 'process',
    capabilities: { env: true, list: true, foreignPaths: false },
    create: async (spec, signal) => {
      const folder = folderOf(spec.name);
      for (const name of ['workspace', 'home', 'tmp']) {
        mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
      }
      const lifetime = `${Math.ceil(spec.ttlMs / 1000)}s`;
      const listen = ['--listen', '127.0.0.1:0', '--workspace', join(folder, 'workspace')];
      const args = [...listen, '--lifetime', lifetime, '--json'];
      const env = {
        ...options.env,
        HOME: join(folder, 'home'),
        TMPDIR: join(folder, 'tmp'),
        ...spec.env,
        AGENT_TOKEN: spec.token,
        [options.markerVariable]: markerOf(spec.name),
      };
      const runtime = { program: options.program, args: [...options.args, ...args] };
      const { program, args: all } = options.startOutside(markerOf(spec.name), runtime);
      const started = await startDetached(folder, [program, ...all], env);
      if (started !== null) return err({ message: started, isCertain: false });
      const listening = await listeningRuntime(folder, signal);
      if (!listening.ok) return err({ message: listening.error, isCertain: false });
      const { url, pid } = listening.value;
      const startTime = options.startTimeOf(pid);
      runtimes.set(spec.name, startTime === null ? null : { pid, startTime });
      return ok({ name: spec.name, id: spec.name, url, token: spec.token });
    },
    destroy: async ({ name }) => {
      if (!namePattern.test(name)) return err(`"${name}" is not the name of a worker.`);
      try {
        await options.endMarked(markerOf(name), runtimes.get(name) ?? null);
        rmSync(folderOf(name), { recursive: true, force: true });
        return ok(null);
      } catch (error) {
        return err(`${toSingleLine(error instanceof Error ? error.message : String(error))}.`);
      }
    },
    isGone: async ({ name }) => {
      const runtime = runtimes.get(name);
      if (runtime === undefined) return false;
      return runtime === null || options.startTimeOf(runtime.pid) !== runtime.startTime;
    },
    list: async () => {
      try {
        const names = readdirSync(options.folder).filter((name) => namePattern.test(name));
        return ok(names.map((name) => ({ name, id: name })));
      } catch {
        return ok([]);
      }
    },
  };
}

function markerOf(name: string): string {
  return `worker/${name}`;
}

/** Returns null once started. */
async function startDetached(
  folder: string,
  program: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  const shell = spawn('/bin/sh', ['-c', detachScript, 'drover-worker', folder, ...program], {
    cwd: folder,
    env,
    detached: true,
    stdio: 'ignore',
  });
  return await new Promise((resolve) => {
    shell.once('error', (error) => resolve(`${toSingleLine(error.message)}.`));
    shell.once('exit', (code) => {
      resolve(code === 0 ? null : `the shell ended with exit code ${code ?? 'none'}.`);
    });
  });
}

/** Waits for the line with which the runtime prints its address. */
async function listeningRuntime(
  folder: string,
  signal: AbortSignal,
): Promise<Result<Listening, string>> {
  const endsAt = performance.now() + startMs;
  const watcher = watcherOf(folder);
  try {
    while (performance.now() < endsAt) {
      if (signal.aborted) return err('it was canceled.');
      const listening = listeningIn(readText(join(folder, 'out')));
      if (listening !== null) return ok(listening);
      const said = toSingleLine(readText(join(folder, 'err')));
      if (said !== '') return err(said);
      await changeOf(watcher);
    }
    return err(`the runtime did not listen within ${startMs / 1000} s.`);
  } finally {
    watcher?.close();
  }
}

/** Returns null if the system cannot watch more files. */
function watcherOf(folder: string): FSWatcher | null {
  try {
    return watch(folder, { persistent: false }).on('error', () => undefined);
  } catch {
    return null;
  }
}

async function changeOf(watcher: FSWatcher | null): Promise<void> {
  const over = new AbortController();
  const pause = delay(watcher === null ? pollMs : watchedPollMs, null, { signal: over.signal });
  const changed = new Promise<void>((resolve) => {
    watcher?.once('change', () => resolve());
  });
  await Promise.race([pause.catch(() => null), changed]);
  over.abort();
}

interface Listening {
  readonly url: string;
  readonly pid: number;
}

/** Returns null if the line is missing or incomplete. */
function listeningIn(text: string): Listening | null {
  const url = /"url":"(http:\/\/127\.0\.0\.1:\d{1,5})"[^\n]*\n/.exec(text)?.[1];
  const pid = /"pid":(\d{1,10})[^\n]*\n/.exec(text)?.[1];
  return url === undefined || pid === undefined ? null : { url, pid: Number(pid) };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
