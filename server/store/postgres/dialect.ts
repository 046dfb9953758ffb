// Kysely's dialect for PostgreSQL with one additional rule: transactions that may write are
// serialized.
//
// All rules of the store (which tasks are ready, who owns a task, the order of landings, event
// numbers) assume that transactions run one after another, as in SQLite, where `begin` takes the
// write lock. Here a transaction takes an advisory lock until it ends. Readers never wait.

import {
  CompiledQuery,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  type PostgresPool,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import { TurnConnection } from './turn.ts';

/** The lock's key, one per schema. The trigger on `events` takes the same lock. */
export const turnKey = (schema: string): string =>
  `hashtextextended('drover/writes/' || ${schema}, 0)`;

const takeTurn = `select pg_advisory_xact_lock(${turnKey('current_schema()')})`;

type PostgresConnection = Parameters<PostgresDriver['releaseConnection']>[0];

class TurnDriver implements Driver {
  readonly #inner: PostgresDriver;

  constructor(pool: PostgresPool) {
    this.#inner = new PostgresDriver({ pool });
  }

  init(): Promise<void> {
    return this.#inner.init();
  }

  async acquireConnection(): Promise<TurnConnection<PostgresConnection>> {
    await this.init();
    return new TurnConnection((await this.#inner.acquireConnection()) as PostgresConnection);
  }

  async beginTransaction(
    connection: TurnConnection<PostgresConnection>,
    settings: TransactionSettings,
  ): Promise<void> {
    if (settings.accessMode === 'read only')
      return this.#inner.beginTransaction(connection.inner, settings);
    // With `read committed`, each later statement sees the commits made before this turn.
    connection.begin(CompiledQuery.raw(`begin isolation level read committed; ${takeTurn}`));
  }

  commitTransaction(connection: TurnConnection<PostgresConnection>): Promise<void> {
    return connection.commit(() => this.#inner.commitTransaction(connection.inner));
  }

  rollbackTransaction(connection: TurnConnection<PostgresConnection>): Promise<void> {
    connection.end();
    return this.#inner.rollbackTransaction(connection.inner);
  }

  releaseConnection(connection: TurnConnection<PostgresConnection>): Promise<void> {
    connection.end();
    return this.#inner.releaseConnection(connection.inner);
  }

  destroy(): Promise<void> {
    return this.#inner.destroy();
  }
}

export function postgresDialect(pool: PostgresPool): Dialect {
  return {
    createDriver: () => new TurnDriver(pool),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}
