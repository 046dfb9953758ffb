// One life of the backend: the real store, the real durable adapter and the real engine with
// simulated ports. When it dies, its promises never settle and it writes nothing more; the
// database, the repository and the agents remain.

import type { DatabaseSync } from 'node:sqlite';
import { type DatabaseConnection, type Dialect, type Driver, Kysely } from 'kysely';
import type { AgentDriver } from '../../server/agents/port.ts';
import { createEmbeddedDurable } from '../../server/durable/embedded/embedded.ts';
import type { Clock, Durable } from '../../server/durable/port.ts';
import { sqliteDialect } from '../../server/store/sqlite/driver.ts';
import { createStore } from '../../server/store/store.ts';
import type { Store, StoreTables, Tx } from '../../server/store/port.ts';
import { createEngine, launchEngine } from '../../server/workflows/engine.ts';
import { LineTending } from '../../server/workflows/run/tending.ts';
import type { PortCalls } from '../doubles/port-calls.ts';
import { SimulatedDriver, SimulatedProcessTable } from '../doubles/simulated-driver.ts';
import { SimulatedGit } from '../doubles/simulated-git.ts';
import type { World } from './world.ts';
import type { AgentScope, Engine, EngineDeps } from '../../server/workflows/kit/engine-ports.ts';

const leaseMs = 15_000;

export class Life {
  readonly id: string;
  readonly world: World;
  readonly calls: PortCalls;
  readonly clock: Clock;
  readonly store: Store;
  readonly durable: Durable<Tx>;
  readonly engine: Engine;
  /**
   * `still`: the process was suspended and its work was taken over; `woken`: it continues briefly
   * with the answers that had been in flight, and can learn only from the database that it has lost
   * everything.
   */
  #state: 'alive' | 'still' | 'woken' | 'dead' = 'alive';
  /** Answers that arrived while it was suspended. */
  readonly #late: (() => void)[] = [];
  launched = false;
  /** Whose agents may send requests, by the log of their part. */
  readonly scopes = new Map<string, AgentScope>();
  readonly onDeath: (() => void)[] = [];
  #following: LineTending | null = null;

  constructor(world: World, number: number) {
    this.id = `backend-${number}`;
    this.world = world;
    this.calls = callsOf(this);
    this.clock = {
      now: () => world.clock.now(),
      timer: (delayMs, callback) =>
        world.clock.timer(delayMs, () => {
          if (this.alive) callback();
        }),
    };
    const db = new Kysely<StoreTables>({ dialect: fencedDialect(this, world.database) });
    const sources = { clock: this.clock, uuid: world.uuid, random: world.randomBytes };
    const { faults } = world;
    this.store = faults.store(createStore(db, sources), world);
    this.durable = createEmbeddedDurable({
      db: db as never,
      clock: this.clock,
      processId: this.id,
      isProcessAlive: (id) => id === this.id && this.alive,
      leaseMs,
      crashPoint: (_workflow, step) => {
        this.store.feed.poke();
        this.world.mayCrash(this, `stored ${step.split(':', 1)[0]}`);
      },
      onTrouble: (error) => this.calls.unexpected(error),
    }) as unknown as Durable<Tx>;
    this.engine = createEngine(faults.parts(this.#parts(), world));
  }

  #parts(): EngineDeps {
    const { world } = this;
    const drivers = new Map<string, AgentDriver>();
    return {
      machineId: '',
      compatibility: { number: 1, leads: () => true },
      lands: () => true,
      standBack: () => {},
      knowsDead: () => true,
      useRun: async () => {},
      isPassing: () => false,
      worktreeBytes: async () => 0,
      store: this.store,
      durable: this.durable,
      git: new SimulatedGit(world.repository, this.calls, world.gitTrouble),
      forge: { newestBase: () => Promise.reject(new Error('no run here uses a forge')) },
      clock: this.clock,
      processes: new SimulatedProcessTable(world.agents, world.commands, this.calls),
      commands: world.commands.portFor(this.calls),
      agentTools: {
        open: (scope, logPath) =>
          this.calls.run('tools.open', () => {
            this.scopes.set(logPath, scope);
            const tools = { command: 'node', args: [], env: {}, configPath: '/tools' };
            return { tools, token: logPath };
          }),
        close: (logPath) =>
          this.calls.run('tools.close', () => {
            this.scopes.delete(logPath);
          }),
      },
      files: {
        copyIgnored: () => Promise.resolve([]),
        fullDisk: () => Promise.resolve(null),
        exists: (path) =>
          this.calls.run('files.exists', () => world.repository.worktrees.has(path)),
        isFile: () => Promise.resolve(false),
        writeText: () => this.calls.run('files.write', () => undefined),
      },
      storeOutput: () => Promise.resolve(),
      places: {
        root: world.repository.root,
        worktrees: '/worktrees',
        logs: '/logs',
        attachments: '/attachments',
        mark: 'p',
      },
      settings: () => world.settings,
      driverFor: (kind) => {
        const known =
          drivers.get(kind) ??
          new SimulatedDriver(kind as AgentDriver['kind'], world.agents, this.calls, this.id);
        drivers.set(kind, known);
        return known;
      },
      agentEnvironment: () => ({}),
      commandEnvironment: () => ({}),
      secrets: () => [],
      mask: (text) => text,
      host: () => null,
      owner: this.id,
      crashPoint: (step) => void world.mayCrash(this, `point ${step}`),
      chance: () => world.productChance.next(),
      report: (error, where) => {
        if (this.alive) world.reported(error, where);
      },
    };
  }

  get alive(): boolean {
    return this.#state === 'alive';
  }

  get mayWrite(): boolean {
    return this.#state === 'alive' || this.#state === 'woken';
  }

  /** Delivers an answer now, or when it wakes; never if it is dead. */
  deliver(give: () => void): void {
    if (this.alive) give();
    else if (this.#state === 'still') this.#late.push(give);
  }

  async launch(): Promise<void> {
    await launchEngine(this.engine);
    this.#following = new LineTending(this.engine).begin();
    this.launched = true;
  }

  /** Killed without notice. */
  die(): void {
    this.#state = 'dead';
    if (this.world.database.isTransaction) this.world.database.exec('rollback');
    for (const callback of this.onDeath) callback();
  }

  /** Between two clock events, so that no transaction is open. */
  standStill(): void {
    this.#state = 'still';
    for (const callback of this.onDeath) callback();
  }

  wake(): void {
    if (this.#state !== 'still') return;
    this.#state = 'woken';
    for (const give of this.#late) give();
  }

  /** Asked to exit: running work is stopped and continues in the next life. */
  async close(): Promise<void> {
    this.#following?.end();
    await this.durable.close();
    this.#state = 'dead';
    for (const callback of this.onDeath) callback();
  }
}

const never = new Promise<never>(() => undefined);

function callsOf(life: Life): PortCalls {
  const { world } = life;
  const pause = (name: string): Promise<void> => {
    if (!life.alive || world.mayCrash(life, name)) return never;
    const delayMs = world.latencyMs();
    if (delayMs === 0) return Promise.resolve();
    return new Promise((resolve) => {
      world.clock.timer(delayMs, () => {
        // Requests that a suspended process sends to the world are not executed; their answers may
        // be read late.
        if (life.alive) resolve();
        else if (name.startsWith('after git')) life.deliver(resolve);
      });
    });
  };
  return {
    run: async (name, last, earlier = []) => {
      await pause(`before ${name}`);
      for (const step of earlier) {
        if (!world.dieHalfway()) continue;
        step();
        await pause(`amid ${name}`);
      }
      const value = last();
      await pause(`after ${name}`);
      return value;
    },
    wait: (begin) =>
      new Promise((resolve) => {
        begin((value) => life.deliver(() => resolve(value)));
      }),
    isAlive: () => life.alive,
    unexpected: (error) => {
      if (life.alive) world.unexpected(error);
    },
  };
}

/**
 * The real dialect; each statement of a dead life never completes, and a life can die around each
 * commit.
 */
function fencedDialect(life: Life, database: DatabaseSync): Dialect {
  const inner = sqliteDialect(database, ':memory:', null);
  return {
    createAdapter: () => inner.createAdapter(),
    createIntrospector: (db) => inner.createIntrospector(db),
    createQueryCompiler: () => inner.createQueryCompiler(),
    createDriver: () => fencedDriver(life, inner.createDriver()),
  };
}

function fencedDriver(life: Life, driver: Driver): Driver {
  const { world } = life;
  const innerOf = new WeakMap<DatabaseConnection, DatabaseConnection>();
  const inner = (connection: DatabaseConnection): DatabaseConnection =>
    innerOf.get(connection) as DatabaseConnection;
  const wrap = (connection: DatabaseConnection): DatabaseConnection => {
    const fenced: DatabaseConnection = {
      executeQuery: (query) => {
        if (query.sql.startsWith('insert into "events"')) world.hasNews = true;
        return life.mayWrite && !world.isInCircle()
          ? (world.faults.query(query, (changed) =>
              connection.executeQuery(changed),
            ) as Promise<never>)
          : never;
      },
      streamQuery: () => {
        throw new Error('nothing is streamed here');
      },
    };
    innerOf.set(fenced, connection);
    return fenced;
  };
  return {
    init: () => driver.init(),
    acquireConnection: async () => {
      if (!life.mayWrite) return never;
      const connection = await driver.acquireConnection();
      return life.mayWrite ? wrap(connection) : never;
    },
    releaseConnection: (connection) =>
      life.mayWrite ? driver.releaseConnection(inner(connection)) : never,
    beginTransaction: (connection, settings) =>
      life.mayWrite ? driver.beginTransaction(inner(connection), settings) : never,
    commitTransaction: async (connection) => {
      if (!life.mayWrite) return never;
      if (life.alive && world.mayCrash(life, 'before commit')) return never;
      await driver.commitTransaction(inner(connection));
      world.hasNews = true;
      if (life.alive && world.mayCrash(life, 'after commit')) return never;
    },
    rollbackTransaction: (connection) =>
      life.mayWrite ? driver.rollbackTransaction(inner(connection)) : never,
    destroy: () => driver.destroy(),
  };
}
