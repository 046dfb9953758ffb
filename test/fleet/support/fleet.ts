// A whole fleet for a test: PostgreSQL, a git server and machines with their own addresses, and the
// cleanup of all of them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { removeFolder } from '../../remove-folder.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { type RoadListener, type SlowRoad, startSlowRoad } from '../../postgres/slow-road.ts';
import { killAll, processesOf } from '../../e2e/support/processes.ts';
import { type PostgresServer, startPostgres } from '../../postgres/server.ts';
import { type GitServer, startGitServer } from './git-server.ts';
import { Machine } from './machine.ts';
import { makeNetwork, type Network } from './network.ts';

export interface FleetOptions {
  readonly machines: readonly string[];
  /** Body of the shell agent; `$machine`, `$id` and `$attempt` are set. */
  readonly agent: string;
  /** Content of the repository's `.drover.toml`. */
  readonly settings: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Machines are plain processes, even if namespaces are allowed. */
  readonly isPlain?: boolean;
  /**
   * The machines reach the database over a separate connection with this round-trip time in
   * milliseconds.
   */
  readonly databaseAwayMs?: number;
  /** Receives the traffic on that connection. */
  readonly onDatabaseRoad?: RoadListener;
  /** A second database server, which replicates the writes of the first one. */
  readonly hasStandby?: boolean;
  /** Machines with a separate disk, small enough to be filled; not if they are plain processes. */
  readonly smallDisks?: readonly string[];
}

export interface Fleet {
  readonly folder: string;
  readonly network: Network;
  readonly postgres: PostgresServer;
  readonly databaseUrl: string;
  readonly road: DatabaseRoad | null;
  readonly gitServer: GitServer;
  readonly machines: readonly Machine[];
  machine(name: string): Machine;
  /** Rows of the shared database, queried without Drover. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** `whileAway`: until it is done, no machine reaches the database. */
  restartPostgres(how: 'fast' | 'kill', whileAway?: () => Promise<void>): Promise<void>;
  /** The writing server is killed permanently, and the standby is promoted. */
  failOver(): Promise<void>;
  /** The ports at which machines reach the database. */
  readonly databasePorts: readonly number[];
  /** No byte is free on it until the returned function is called. */
  fillDisk(name: string): () => void;
  /** Stops everything, asserts that nothing is left, and removes it. */
  end(isKept: boolean): Promise<void>;
}

const password = 'a-password-of-tests';
const leaveMaxMs = 20_000;
const smallDisk = '384m';
const fillerBytes = 256 * 1_024;

function mountSmallDisk(folder: string): void {
  const words = ['-t', 'tmpfs', '-o', `size=${smallDisk},mode=755`, 'drover', folder];
  execFileSync('mount', words, { stdio: ['ignore', 'ignore', 'pipe'] });
}

export async function makeFleet(options: FleetOptions): Promise<Fleet> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-fleet-')));
  const undo: (() => Promise<unknown> | void)[] = [];
  try {
    const network = await makeNetwork(options.isPlain);
    undo.push(() => network.close());
    const postgres = await startPostgres({
      address: network.address,
      clients: network.clients,
      password,
      connectionsMax: 300,
    });
    undo.push(() => postgres.close());
    const gitServer = await startGitServer(folder, network.serverAddresses);
    undo.push(() => gitServer.stop());
    const standby = options.hasStandby === true ? await postgres.startStandby() : null;
    undo.push(() => standby?.close());
    const databaseUrl = await postgres.createDatabase('fleet');
    const road = await roadTo(network.address, postgres.port, options);
    undo.push(() => road?.close());
    fillRepository(folder, gitServer, options);
    const machines: Machine[] = [];
    for (const name of options.machines) {
      const parts = {
        folder,
        network,
        gitServer,
        databaseUrl: machinesUrl({ network, postgres, standby, road, databaseUrl }),
        options,
      };
      machines.push(await addMachine(parts, name));
    }
    return new RealFleet({
      folder,
      network,
      postgres,
      standby,
      databaseUrl,
      road,
      gitServer,
      machines,
    });
  } catch (error) {
    for (const step of undo.toReversed()) await step();
    removeFolder(folder);
    throw error;
  }
}

/** The URL that the machines use: over their connection, or to both of its servers. */
function machinesUrl(
  parts: Pick<FleetParts, 'network' | 'postgres' | 'standby' | 'road' | 'databaseUrl'>,
): string {
  const { network, postgres, standby, road, databaseUrl } = parts;
  if (road !== null) return road.url(databaseUrl);
  if (standby === null) return databaseUrl;
  const first = `${network.address}:${postgres.port}`;
  return databaseUrl.replace(first, `${first},${network.address}:${standby.port}`);
}

interface DatabaseRoad extends SlowRoad {
  /** The URL that the machines use. */
  url(direct: string): string;
}

async function roadTo(
  host: string,
  port: number,
  { databaseAwayMs: awayMs, onDatabaseRoad: heard }: FleetOptions,
): Promise<DatabaseRoad | null> {
  if (awayMs === undefined) return null;
  const road = await startSlowRoad({ host, port }, awayMs, host, heard);
  return { ...road, url: (direct) => direct.replace(`:${port}/`, `:${road.port}/`) };
}

interface MachineParts {
  readonly folder: string;
  readonly network: Network;
  readonly gitServer: GitServer;
  readonly databaseUrl: string;
  readonly options: FleetOptions;
}

async function addMachine(parts: MachineParts, name: string): Promise<Machine> {
  const own = join(parts.folder, name);
  mkdirSync(own);
  const isSmall = parts.options.smallDisks?.includes(name) === true;
  if (isSmall && parts.network.kind === 'namespaces') mountSmallDisk(own);
  const host = await parts.network.addHost(name, `DROVER_FLEET_TEST_HOST=${own}`);
  const machine = new Machine({
    name,
    host,
    folder: own,
    agent: `ledger='${join(parts.folder, 'ledger')}'\n${parts.options.agent}`,
    env: { DBOS_SYSTEM_DATABASE_URL: parts.databaseUrl, DROVER_MACHINE_NAME: name },
    isReal: parts.network.kind === 'namespaces',
  });
  const url = parts.gitServer.urlAt(host.serverAddress);
  const cloned = await machine.run('git', ['clone', '-q', url, 'repo']);
  assert.equal(cloned.code, 0, cloned.stderr);
  return machine;
}

function fillRepository(folder: string, server: GitServer, options: FleetOptions): void {
  const first = join(folder, 'first');
  const files = {
    'README.md': 'A project.\n',
    '.gitignore': 'ignored/\n',
    '.drover.toml': options.settings,
    ...options.files,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(first, path)), { recursive: true });
    writeFileSync(join(first, path), text);
  }
  const author = ['-c', 'user.name=A Person', '-c', 'user.email=person@example.org'];
  for (const args of [
    ['init', '-q', '--initial-branch=main'],
    ['add', '-A'],
    [...author, 'commit', '-qm', 'first'],
    ['push', '-q', server.bare, 'main'],
  ]) {
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
    execFileSync('git', args, { cwd: first, env, stdio: ['ignore', 'ignore', 'pipe'] });
  }
}

type FleetParts = Pick<
  Fleet,
  'folder' | 'network' | 'postgres' | 'databaseUrl' | 'road' | 'gitServer' | 'machines'
> & { readonly standby: PostgresServer | null };

class RealFleet implements Fleet {
  readonly folder: string;
  readonly network: Network;
  readonly postgres: PostgresServer;
  readonly databaseUrl: string;
  readonly road: DatabaseRoad | null;
  readonly gitServer: GitServer;
  readonly machines: readonly Machine[];
  readonly #standby: PostgresServer | null;
  /** The server that accepts writes. */
  #primary: PostgresServer;

  constructor(parts: FleetParts) {
    this.folder = parts.folder;
    this.network = parts.network;
    this.postgres = parts.postgres;
    this.databaseUrl = parts.databaseUrl;
    this.road = parts.road;
    this.gitServer = parts.gitServer;
    this.machines = parts.machines;
    this.#standby = parts.standby;
    this.#primary = parts.postgres;
  }

  get databasePorts(): readonly number[] {
    if (this.road !== null) return [this.road.port];
    return [this.postgres, ...(this.#standby === null ? [] : [this.#standby])].map(
      ({ port }) => port,
    );
  }

  machine(name: string): Machine {
    const found = this.machines.find((machine) => machine.name === name);
    if (found === undefined) throw new Error(`there is no machine ${name}`);
    return found;
  }

  async query<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const client = new pg.Client({ connectionString: this.#primary.url('fleet') });
    // A server that is restarted closes its connections, and the query itself then reports that.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text, [...values])).rows as Row[];
    } finally {
      await client.end();
    }
  }

  async restartPostgres(how: 'fast' | 'kill', whileAway?: () => Promise<void>): Promise<void> {
    await this.#primary.stop(how === 'fast' ? 'SIGINT' : 'SIGKILL');
    await whileAway?.();
    await this.#primary.start();
  }

  async failOver(): Promise<void> {
    if (this.#standby === null) throw new Error('there is no standby');
    await this.#primary.stop('SIGKILL');
    await this.#standby.promote();
    this.#primary = this.#standby;
  }

  fillDisk(name: string): () => void {
    if (this.network.kind === 'processes') return () => undefined;
    const filler = join(this.machine(name).folder, 'filler');
    const block = Buffer.alloc(fillerBytes);
    try {
      for (;;) appendFileSync(filler, block);
    } catch {
      // It is full.
    }
    return () => rmSync(filler, { force: true });
  }

  async end(isKept: boolean): Promise<void> {
    const problems: string[] = [];
    if (isKept) this.tell();
    for (const machine of this.machines) machine.host.reconnect();
    const killed = await Promise.allSettled(this.machines.map((machine) => machine.kill()));
    for (const end of killed) if (end.status === 'rejected') problems.push(String(end.reason));
    const closeRoad = async (): Promise<void> => this.road?.close();
    const closeStandby = async (): Promise<void> => this.#standby?.close();
    const servers = [closeRoad, closeStandby, this.postgres.close];
    for (const step of [this.network.close, this.gitServer.stop, ...servers]) {
      await step().catch((error: unknown) => problems.push(String(error)));
    }
    const none = (): boolean => processesOf(this.folder).length === 0;
    await eventually('no process is left', none, leaveMaxMs).catch(() => {
      const left = processesOf(this.folder);
      for (const { pid, what } of left) problems.push(`left running: ${pid} ${what}`);
      killAll(left);
    });
    if (!isKept) removeFolder(this.folder);
    assert.deepEqual(problems, []);
  }

  private tell(): void {
    console.log(`kept: ${this.folder}`);
    for (const machine of this.machines) console.log(`--- ${machine.name}\n${machine.log()}`);
  }
}
