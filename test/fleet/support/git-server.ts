// A bare repository that a real `git daemon` serves to the machines, and a hook between a push and
// its answer.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import { freePort } from '../../free-port.ts';

export interface GitServer {
  readonly bare: string;
  readonly port: number;
  /** The URL for a machine that uses this address. */
  readonly urlAt: (address: string) => string;
  /** Runs git in the bare repository itself. */
  readonly git: (...args: readonly string[]) => string;
  /**
   * Called once, after the next push of a landing line was accepted and before its pusher is
   * notified: `act` gets the pusher's address, and returns false to wait for another push. Resolves
   * with that address, or null if abandoned.
   */
  readonly atNextLanding: (
    act: (address: string) => boolean,
    givenUp?: AbortSignal,
  ) => Promise<string | null>;
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
}

const waitMaxMs = 120_000;

/**
 * Waits, with a limit, for the test to handle a push that it wants to see; everything else passes
 * at once.
 */
const postReceive = `#!/bin/sh
cat > "$GIT_DIR/pushed.$$"
if [ -e "$GIT_DIR/watched" ] && grep -q ' refs/drover/land/' "$GIT_DIR/pushed.$$" &&
  mv "$GIT_DIR/watched" "$GIT_DIR/taken" 2> /dev/null; then
  echo "\${FLEET_TEST_PUSHER:-$REMOTE_ADDR}" > "$GIT_DIR/pusher.new" && mv "$GIT_DIR/pusher.new" "$GIT_DIR/pusher"
  n=0
  while [ -e "$GIT_DIR/taken" ] && [ $n -lt 400 ]; do sleep 0.025; n=$((n + 1)); done
fi
rm -f "$GIT_DIR/pushed.$$"
`;

export async function startGitServer(
  folder: string,
  addresses: readonly string[],
): Promise<GitServer> {
  const [address = '127.0.0.1'] = addresses;
  const bare = join(folder, 'remote', 'project.git');
  mkdirSync(join(folder, 'remote'), { recursive: true });
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, {
      cwd: existsSync(bare) ? bare : folder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    }).trimEnd();
  git('init', '-q', '--bare', '--initial-branch=main', bare);
  git('config', 'gc.auto', '0');
  const hook = join(bare, 'hooks', 'post-receive');
  mkdirSync(join(bare, 'hooks'), { recursive: true });
  writeFileSync(hook, postReceive);
  chmodSync(hook, 0o755);

  const port = await freePort(address);
  let children: readonly ChildProcess[] = [];
  const startAt = (own: string): ChildProcess => {
    const base = join(folder, 'remote');
    const place = ['--reuseaddr', `--listen=${own}`, `--port=${port}`, `--base-path=${base}`];
    const rights = ['--export-all', '--enable=receive-pack', '--max-connections=200'];
    // On loopback, all clients look the same, so each has a separate server, which identifies
    // itself to the hook.
    const said = addresses.length > 1 ? { FLEET_TEST_PUSHER: own } : {};
    // Its own program, because children of `git daemon` would outlive the signal to it.
    const daemon = join(git('--exec-path'), 'git-daemon');
    const started = { cwd: folder, env: { ...env, ...said }, stdio: 'ignore' } as const;
    return spawn(daemon, [...place, ...rights, base], started);
  };
  const start = async (): Promise<void> => {
    children = addresses.map(startAt);
    for (const own of addresses) {
      await eventually('git daemon answers', () => answers(own, port), 20_000);
    }
  };
  const stop = async (): Promise<void> => {
    const alive = children.filter((child) => child.exitCode === null && child.signalCode === null);
    const ended = alive.map((child) => once(child, 'exit'));
    for (const child of alive) child.kill('SIGKILL');
    await Promise.all(ended);
  };
  const atNextLanding: GitServer['atNextLanding'] = async (act, givenUp) => {
    const pusher = join(bare, 'pusher');
    for (;;) {
      writeFileSync(join(bare, 'watched'), '');
      const isSeen = (): boolean => givenUp?.aborted === true || existsSync(pusher);
      await eventually('a landing line is pushed', isSeen, waitMaxMs);
      rmSync(join(bare, 'watched'), { force: true });
      if (!existsSync(pusher)) return null;
      const from = readFileSync(pusher, 'utf8').trim();
      rmSync(pusher);
      const isDone = act(from);
      rmSync(join(bare, 'taken'), { force: true });
      if (isDone) return from;
    }
  };
  await start();
  const urlAt = (from: string): string => `git://${from}:${port}/project.git`;
  return { bare, port, urlAt, git, atNextLanding, stop, start };
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    const done = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}
