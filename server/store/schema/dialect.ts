// The few differences between the SQL of SQLite and PostgreSQL. Everything else is one query for
// both.

import { type Kysely, PostgresAdapter, sql } from 'kysely';

export function isPostgres<Tables>(db: Kysely<Tables>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** The error for a query of a body that outlived its transaction. */
export const transactionIsOver = 'the transaction of this query has ended';

/** A transaction that reads a consistent snapshot and does not block writers. */
export async function readingTransaction<Tables, T>(
  db: Kysely<Tables>,
  body: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  if (isPostgres(db)) {
    return db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(body);
  }
  return db.connection().execute(async (connection) => {
    await sql`begin deferred`.execute(connection);
    try {
      return await body(connection);
    } finally {
      await sql`rollback`.execute(connection);
    }
  });
}
