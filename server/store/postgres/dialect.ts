// Kysely's dialect for PostgreSQL with one added rule: transactions that may write are serialized.
//
// All rules of the store (what is ready, who owns a task, the order of landings, the numbers of
// events) assume transactions that run one after the other, as in SQLite, where `begin` takes the
// write lock. Here it takes an advisory lock until the end of the transaction. Readers never wait.

import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  type PostgresPool,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely';

/** One turn per schema. The trigger on `events` takes the same one. */
export const turnKey = (schema: string): string =>
  `hashtextextended('drover/writes/' || ${schema}, 0)`;

const takeTurn = `select pg_advisory_xact_lock(${turnKey('current_schema()')})`;

class TurnDriver extends PostgresDriver {
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    if (settings.accessMode === 'read only') return super.beginTransaction(connection, settings);
    // One round trip. Each later statement sees what was committed before this turn: that is `read
    // committed`.
    const begin = CompiledQuery.raw(`begin isolation level read committed; ${takeTurn}`);
    try {
      await connection.executeQuery(begin);
    } catch (error) {
      // It may have started without getting its turn; Kysely rolls back only transactions that it
      // has started.
      await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined);
      throw error;
    }
  }
}

export function postgresDialect(pool: PostgresPool): Dialect {
  return {
    createDriver: () => new TurnDriver({ pool }),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}
