// A whole fleet for a test: PostgreSQL, a git server and machines with addresses of their own, and the end of all that.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { eventually } from '../../e2e/support/eventually.ts';
import { type SlowRoad, startSlowRoad } from '../../postgres/slow-road.ts';
import { killAll, processesOf } from '../../e2e/support/processes.ts';
import { type PostgresServer, startPostgres } from '../../postgres/server.ts';
import { type GitServer, startGitServer } from './git-server.ts';
import { Machine } from './machine.ts';
import { makeNetwork, type Network } from './network.ts';

export interface FleetOptions {
  readonly machines: readonly string[];
  /** Body of the shell agent; `$machine`, `$id` and `$attempt` are set. */
  readonly agent: string;
  /** Content of `.drover.toml` of the repository. */
  readonly settings: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Machines are plain processes, also where namespaces are allowed. */
  readonly isPlain?: boolean;
  /** The machines reach the database by a road of its own: so many milliseconds there and back. */
  readonly databaseAwayMs?: number;
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
  /** Rows of the shared database, asked without Drover. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  restartPostgres(how: 'fast' | 'kill'): Promise<void>;
  /** Ends everything, asserts that nothing is left, and removes it. */
  end(isKept: boolean): Promise<void>;
}

const password = 'a-password-of-tests';
const leaveMaxMs = 20_000;

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
    const databaseUrl = await postgres.createDatabase('fleet');
    const road = await roadTo(network.address, postgres.port, options.databaseAwayMs);
    undo.push(() => road?.close());
    fillRepository(folder, gitServer, options);
    const machines: Machine[] = [];
    for (const name of options.machines) {
      const parts = {
        folder,
        network,
        gitServer,
        databaseUrl: road?.url(databaseUrl) ?? databaseUrl,
        options,
      };
      machines.push(await addMachine(parts, name));
    }
    return new RealFleet({ folder, network, postgres, databaseUrl, road, gitServer, machines });
  } catch (error) {
    for (const step of undo.toReversed()) await step();
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

interface DatabaseRoad extends SlowRoad {
  /** As the machines know it. */
  url(direct: string): string;
}

async function roadTo(
  host: string,
  port: number,
  awayMs: number | undefined,
): Promise<DatabaseRoad | null> {
  if (awayMs === undefined) return null;
  const road = await startSlowRoad({ host, port }, awayMs, host);
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
>;

class RealFleet implements Fleet {
  readonly folder: string;
  readonly network: Network;
  readonly postgres: PostgresServer;
  readonly databaseUrl: string;
  readonly road: DatabaseRoad | null;
  readonly gitServer: GitServer;
  readonly machines: readonly Machine[];

  constructor(parts: FleetParts) {
    this.folder = parts.folder;
    this.network = parts.network;
    this.postgres = parts.postgres;
    this.databaseUrl = parts.databaseUrl;
    this.road = parts.road;
    this.gitServer = parts.gitServer;
    this.machines = parts.machines;
  }

  machine(name: string): Machine {
    const found = this.machines.find((machine) => machine.name === name);
    if (found === undefined) throw new Error(`there is no machine ${name}`);
    return found;
  }

  async query<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const client = new pg.Client({ connectionString: this.databaseUrl });
    // A server that is restarted ends its connections; the query itself then says so.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text, [...values])).rows as Row[];
    } finally {
      await client.end();
    }
  }

  async restartPostgres(how: 'fast' | 'kill'): Promise<void> {
    await this.postgres.stop(how === 'fast' ? 'SIGINT' : 'SIGKILL');
    await this.postgres.start();
  }

  async end(isKept: boolean): Promise<void> {
    const problems: string[] = [];
    if (isKept) this.tell();
    for (const machine of this.machines) machine.host.reconnect();
    const killed = await Promise.allSettled(this.machines.map((machine) => machine.kill()));
    for (const end of killed) if (end.status === 'rejected') problems.push(String(end.reason));
    const closeRoad = async (): Promise<void> => this.road?.close();
    for (const step of [this.network.close, this.gitServer.stop, closeRoad, this.postgres.close]) {
      await step().catch((error: unknown) => problems.push(String(error)));
    }
    const none = (): boolean => processesOf(this.folder).length === 0;
    await eventually('no process is left', none, leaveMaxMs).catch(() => {
      const left = processesOf(this.folder);
      for (const { pid, what } of left) problems.push(`left running: ${pid} ${what}`);
      killAll(left);
    });
    if (!isKept) rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    assert.deepEqual(problems, []);
  }

  private tell(): void {
    console.log(`kept: ${this.folder}`);
    for (const machine of this.machines) console.log(`--- ${machine.name}\n${machine.log()}`);
  }
}
