// The connections to one database. Their number and every wait are bounded, and all are set up in
// the same way.

import pg from 'pg';
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { PostgresPlace } from './database-url.ts';
import { postgresError, PostgresRefusal, type PostgresRefusalName } from './trouble.ts';

export interface PoolOptions {
  /** Maximum number of connections of this process, besides the one that listens. */
  readonly connectionsMax?: number;
  /** How long to wait for the server, or for a free connection of the pool. */
  readonly connectMaxMs?: number;
  /** How long one statement may take, including its wait for a lock. */
  readonly statementMaxMs?: number;
  /**
   * How long the server waits for a client inside a transaction. After that it ends the
   * transaction, because the machine may be gone.
   */
  readonly idleInTransactionMaxMs?: number;
  /** Shown in the server's list of connections. */
  readonly applicationName?: string;
}

export const poolDefaults = {
  connectionsMax: 10,
  connectMaxMs: 10_000,
  statementMaxMs: 60_000,
  idleInTransactionMaxMs: 10_000,
  applicationName: 'drover',
} as const;

const marginMaxMs = 5_000;
const keepAliveDelayMs = 10_000;
const idleConnectionMaxMs = 60_000;
const int8 = 20;
const numeric = 1700;

/** Integers and sums are returned as numbers, as in SQLite. All of ours are below 2^53. */
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary'): unknown =>
    oid === int8 || oid === numeric
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

export function clientConfig(place: PostgresPlace, options: PoolOptions): pg.ClientConfig {
  const limits = { ...poolDefaults, ...options };
  return {
    connectionString: place.servers[0],
    types,
    application_name: limits.applicationName,
    connectionTimeoutMillis: limits.connectMaxMs,
    // The server's own limit applies first. This one is for a server that vanished silently.
    query_timeout: limits.statementMaxMs + Math.min(limits.statementMaxMs, marginMaxMs),
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
  };
}

/**
 * Sent on each new connection, as statements instead of startup parameters, because poolers refuse
 * those.
 */
export function sessionSettings(options: PoolOptions): string {
  const limits = { ...poolDefaults, ...options };
  const values: Readonly<Record<string, string>> = {
    statement_timeout: `${limits.statementMaxMs}`,
    lock_timeout: `${Math.max(1, Math.floor(limits.statementMaxMs / 2))}`,
    idle_in_transaction_session_timeout: `${limits.idleInTransactionMaxMs}`,
    client_min_messages: 'warning',
    standard_conforming_strings: 'on',
    // The server detects a vanished machine within half a minute.
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '5',
    tcp_keepalives_count: '4',
  };
  return Object.entries(values)
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join('; ');
}

/**
 * After these errors a connection is not reused, because a late response to an abandoned query may
 * still arrive.
 */
const spoils: ReadonlySet<PostgresRefusalName> = new Set(['lost', 'slow', 'standby']);

export interface OpenedPool {
  readonly pool: PostgresPool;
  readonly end: () => Promise<void>;
}

/** Converts every error that leaves the pool to our messages. */
export function openPool(place: PostgresPlace, options: PoolOptions): OpenedPool {
  const limits = { ...poolDefaults, ...options };
  const inner = new pg.Pool({
    ...clientConfig(place, options),
    // Statements are sent back to back without waiting (`turn.ts`).
    pipeline: true,
    Client: place.Client,
    max: limits.connectionsMax,
    idleTimeoutMillis: idleConnectionMaxMs,
    verify: (client, done) => {
      client.query(sessionSettings(options)).then(() => done(), done);
    },
  });
  // The server may close a connection inside a transaction. The next statement reports that.
  inner.on('connect', (client) => client.on('error', () => undefined));
  // An idle connection that closes is removed from the pool. The next query opens a new one or
  // reports the problem.
  inner.on('error', () => undefined);
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw postgresError(error, place);
    }
  };
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  const wrapped = (client: pg.PoolClient): PostgresPoolClient => {
    const known = clients.get(client);
    if (known !== undefined) return known;
    let isStale = false;
    const query = async <R>(text: string, parameters: readonly unknown[]) => {
      const values = parameters.map(storable);
      try {
        return (await client.query(text, values)) as unknown as PostgresQueryResult<R>;
      } catch (error) {
        const trouble = postgresError(error, place);
        isStale ||= trouble instanceof PostgresRefusal && spoils.has(trouble.trouble);
        throw trouble;
      }
    };
    const made = {
      query,
      release: (destroy?: boolean) => client.release(destroy === true || isStale),
    } as unknown as PostgresPoolClient;
    clients.set(client, made);
    return made;
  };
  let ended: Promise<void> | null = null;
  const end = (): Promise<void> => (ended ??= inner.end());
  return {
    pool: {
      options: {},
      connect: async () => wrapped(await told(inner.connect())),
      end,
    },
    end,
  };
}

/** PostgreSQL cannot store zero characters in text, but agents and gates may print them. */
function storable(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\ufffd')
    : value;
}
