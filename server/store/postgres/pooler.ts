// Detects a pooler between us and PostgreSQL that shares one server connection between clients.
// Session state (LISTEN, advisory locks) would then reach the wrong client.

import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { type PlaceWords, PostgresRefusal } from './trouble.ts';

/**
 * Queries on two connections at the same time: if the same server process serves both, a pooler
 * shares it. PgBouncer in transaction mode gives its most recently used connection to the next
 * client. In session mode, and without a pooler, each client has its own process. The pool must
 * allow two connections. Throws a `PostgresRefusal` named `pooler`.
 */
export async function refuseSharedSessions(pool: PostgresPool, place: PlaceWords): Promise<void> {
  const first = await pool.connect();
  try {
    const second = await pool.connect();
    try {
      const here = await serverProcessOf(first);
      await second.query('begin', []);
      const there = await serverProcessOf(second);
      await second.query('commit', []);
      if (here === there) throw sharedSessions(place);
    } catch (error) {
      const isStatementMode =
        error instanceof Error && /not allowed in statement pooling mode/i.test(error.message);
      throw isStatementMode ? sharedSessions(place) : error;
    } finally {
      second.release();
    }
  } finally {
    first.release();
  }
}

async function serverProcessOf(client: PostgresPoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid', []);
  return rows[0]?.pid ?? 0;
}

function sharedSessions(place: PlaceWords): PostgresRefusal {
  return new PostgresRefusal(
    'pooler',
    `A connection pooler at ${place.host} shares sessions between clients (transaction or statement mode); Drover needs its own sessions. Set pool_mode = session for the database "${place.database}" in PgBouncer, or name the PostgreSQL server itself in the URL.`,
  );
}
