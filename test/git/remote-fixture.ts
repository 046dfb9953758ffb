// Several clones of one remote repository: over the file system, or over a git server that can be
// killed and restarted.

import { setTimeout as delay } from 'node:timers/promises';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { GitAdapterOptions } from '../../server/git/repository/adapter.ts';
import type { LocalRepository } from '../../server/git/local-port.ts';
import {
  createSharedRepository,
  type SharedOptions,
  type SharedRepository,
} from '../../server/git/remote/shared-repository.ts';
import { freePort } from '../free-port.ts';
import { type Fixture, makeFixture, valueOf } from './fixture.ts';

export interface Clone {
  readonly root: string;
  readonly slots: string;
  git(...args: readonly string[]): string;
  commit(file: string, text: string): string;
}

export interface Machine extends Clone {
  readonly local: LocalRepository;
  readonly shared: SharedRepository;
  readonly reports: string[];
}

export interface Fleet {
  readonly fixture: Fixture;
  /** The bare repository. */
  readonly bare: string;
  readonly url: string;
  /** Runs git in the bare repository. */
  remote(...args: readonly string[]): string;
  readonly remoteRef: (ref: string) => string | null;
  clone(name: string): Clone;
  machine(name: string, options?: Partial<SharedOptions>): Promise<Machine>;
  /** A hook of the server; null removes it. */
  hook(name: 'pre-receive' | 'post-receive' | 'update', script: string | null): void;
  /** Only with a server: stops it with all its connections, or restarts it at the same address. */
  readonly server: GitServer | null;
  remove(): Promise<void>;
}

export interface GitServer {
  stop(): Promise<void>;
  start(): Promise<void>;
}

export const quick: Partial<SharedOptions> = {
  timeoutMs: 20_000,
  pausesMs: [50, 100, 200],
  freshMs: 0,
};

export async function makeFleet(kind: 'file' | 'server'): Promise<Fleet> {
  const fixture = makeFixture();
  const bare = join(fixture.home, 'shared.git');
  const logged = ['-c', 'core.logAllRefUpdates=always'];
  fixture.gitIn(fixture.home, 'clone', '-q', '--bare', ...logged, fixture.root, bare);
  const port = kind === 'server' ? await freePort() : 0;
  const server = kind === 'server' ? gitServer(fixture, port) : null;
  await server?.start();
  const url =
    server === null ? pathToFileURL(bare).href : `git://127.0.0.1:${String(port)}/shared.git`;
  const remote = (...args: readonly string[]): string => fixture.gitIn(bare, ...args);
  const clone = (name: string): Clone => {
    const root = join(fixture.home, name);
    const person = ['-c', `user.name=${name}`, '-c', `user.email=${name}@example.org`];
    fixture.gitIn(fixture.home, 'clone', '-q', ...person, url, root);
    const git = (...args: readonly string[]): string => fixture.gitIn(root, ...args);
    const commit = (file: string, text: string): string => {
      fixture.write(join(root, file), text);
      git('add', '-A');
      git('commit', '-qm', `${name}: ${file}`);
      return git('rev-parse', 'HEAD');
    };
    return { root, slots: join(fixture.home, `${name}.worktrees`), git, commit };
  };
  return {
    fixture,
    bare,
    url,
    remote,
    remoteRef: (ref) => {
      try {
        return remote('rev-parse', '--verify', '-q', ref);
      } catch {
        return null;
      }
    },
    clone,
    machine: async (name, options = {}) => openMachine(fixture, clone(name), name, options),
    hook: (name, script) => {
      const path = join(bare, 'hooks', name);
      rmSync(path, { force: true });
      if (script === null) return;
      writeFileSync(path, `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
    },
    server,
    remove: async () => {
      await server?.stop();
      fixture.remove();
    },
  };
}

/** Another process in a machine's clone, or the same machine after a restart. */
export async function openMachine(
  fixture: Fixture,
  clone: Clone,
  machineId: string,
  options: Partial<SharedOptions> = {},
  adapterOptions: GitAdapterOptions = {},
): Promise<Machine> {
  const adapter = fixture.adapter({ durable: false, lockPatienceMs: 3_000, ...adapterOptions });
  const local = valueOf(await adapter.open(clone.root));
  const reports: string[] = [];
  const shared = createSharedRepository(local, {
    remote: 'origin',
    machineId,
    report: (error, doing) => reports.push(`${doing}: ${messageOf(error)}`),
    ...quick,
    ...options,
  });
  return { ...clone, local, shared, reports };
}

function messageOf(error: unknown): string {
  return (error as { readonly message?: string }).message ?? String(error);
}

function gitServer(fixture: Fixture, port: number): GitServer {
  let running: ChildProcess | null = null;
  const program = join(
    execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(),
    'git-daemon',
  );
  const begin = async (): Promise<string | null> => {
    const child = spawn(
      program,
      [
        '--listen=127.0.0.1',
        `--port=${String(port)}`,
        '--reuseaddr',
        `--base-path=${fixture.home}`,
        '--export-all',
        '--enable=receive-pack',
        '--informative-errors',
        '--verbose',
      ],
      // A separate group, so that its connections can be closed with it.
      { env: fixture.environment, detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    running = child;
    let said = '';
    return new Promise((resolve) => {
      child.once('exit', () => resolve(said));
      child.stderr?.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
        if (said.includes('Ready to rumble')) resolve(null);
      });
    });
  };
  return {
    start: async () => {
      // During the outage, another test's connection may have taken the port.
      for (let tries = 1; ; tries += 1) {
        const said = await begin();
        if (said === null) return;
        if (tries === 50) throw new Error(`the git server ended: ${said}`);
        await delay(100);
      }
    },
    stop: async () => {
      const child = running;
      running = null;
      if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      process.kill(-child.pid, 'SIGKILL');
      await ended;
    },
  };
}

/** A commit on top of another one, made without a checkout. */
export function commitOn(clone: Clone, parent: string, name: string): string {
  return clone.git('commit-tree', `${parent}^{tree}`, '-p', parent, '-m', name);
}
