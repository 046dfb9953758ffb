// The connections of one process of a fleet: limited, unable to end the process, and abandoned when
// the network is down.

import { Pool, type PoolClient } from 'pg';
import { databaseClientClass, parseServers } from './database-servers.ts';

export interface FleetPoolOptions {
  readonly url: string;
  readonly connectionsMax: number;
  readonly takeOverAfterMs: number;
  readonly onTrouble: (error: unknown) => void;
}

export interface FleetPool {
  readonly pool: Pool;
  /**
   * Ends all connections, so that queries that hang in them fail now. The operating system itself
   * detects a network that drops all packets only after a quarter of an hour. The next query opens
   * a new connection.
   */
  readonly dropAll: () => void;
}

/** A field that the driver's types omit. */
interface SocketHolder {
  readonly connection: { readonly stream: { destroy(): void } };
}

/**
 * One connection listens, DBOS may hold one and a commit holds one. With fewer, they would wait for
 * each other.
 */
const connectionsMin = 4;

export function openFleetPool(options: FleetPoolOptions): FleetPool {
  const { takeOverAfterMs, onTrouble } = options;
  const servers = parseServers(options.url);
  const pool = new Pool({
    connectionString: servers[0],
    Client: databaseClientClass(servers),
    max: Math.max(connectionsMin, options.connectionsMax),
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'drover',
    // A machine that is cut off inside a transaction must not hold its rows against those that take
    // over. Set by a statement and not a startup parameter, because PgBouncer refuses unknown ones.
    verify: (client, done) => {
      const limitMs = Math.max(1_000, takeOverAfterMs);
      client.query(`set idle_in_transaction_session_timeout = ${limitMs}`).then(() => done(), done);
    },
  });
  const all = new Set<PoolClient>();
  // The pool reports errors only of idle connections. A connection that breaks in use reports to
  // its user and then to this listener; without a listener, a database restart would end the
  // process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    all.add(client);
    client.on('error', (error) => {
      if (!pool.ending) onTrouble(error);
    });
  });
  pool.on('remove', (client) => void all.delete(client));
  // Does not use `end`, which closes the protocol first. A dropped connection looks like a network
  // failure, so DBOS also retries.
  const dropAll = (): void => {
    for (const client of all) (client as unknown as SocketHolder).connection.stream.destroy();
  };
  return { pool, dropAll };
}
