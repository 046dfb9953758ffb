// Opens the store on PostgreSQL: the same tables and queries as in a SQLite file, shared by several
// machines.

import { HandleEmptyInListsPlugin, replaceWithNoncontingentExpression } from 'kysely';
import type { StoreSources } from '../feed/feed.ts';
import type { Store } from '../port.ts';
import { createSharedStore } from '../store.ts';
import type { StoreTables } from '../schema/tables.ts';
import { postgresDialect } from './dialect.ts';
import { ListeningConnection } from './listen.ts';
import { migratePostgres } from './migrate.ts';
import { parseDatabaseUrl } from './database-url.ts';
import { pipelinedKysely } from './pipelined.ts';
import { openPool, type PoolOptions } from './pool.ts';
import { refuseSharedSessions } from './pooler.ts';

export interface OpenPostgresOptions extends PoolOptions {
  /** If false, events that other processes append are not reported. For commands that only read. */
  readonly listen?: boolean;
}

export interface OpenedPostgresStore {
  readonly store: Store;
  /** The URL without the password. */
  readonly shown: string;
  /**
   * Calls back with the name of each log that grows on any machine. Returns a function that
   * unsubscribes.
   */
  readonly onOutput: (heard: (file: string) => void) => () => void;
  /** Waits for running statements, then closes. A second call does nothing. */
  readonly close: () => Promise<void>;
}

/** A `PostgresRefusal` names the database and the remedy, and means that nothing was changed. */
export async function openPostgresStore(
  url: string,
  sources: StoreSources,
  options: OpenPostgresOptions = {},
): Promise<OpenedPostgresStore> {
  const place = parseDatabaseUrl(url);
  const { pool } = openPool(place, options);
  const db = pipelinedKysely<StoreTables>(postgresDialect(pool), [
    // SQLite accepts an empty list; in PostgreSQL it is a syntax error.
    new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression }),
  ]);
  try {
    // The check needs two connections.
    if (options.connectionsMax !== 1) await refuseSharedSessions(pool, place);
    await migratePostgres(db, place);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  const { store, tell } = createSharedStore(db, sources);
  const listening = (options.listen ?? true) ? new ListeningConnection(place, options, tell) : null;
  await listening?.ready;
  const close = async (): Promise<void> => {
    await listening?.close();
    await db.destroy();
  };
  let closed: Promise<void> | null = null;
  const onOutput = (heard: (file: string) => void): (() => void) =>
    // The payload starts with the schema. If the database also contains another project, reading
    // its log does no harm.
    listening?.onOutput((payload) => heard(payload.slice(payload.indexOf(' ') + 1))) ?? (() => {});
  return { store, shown: place.shown, onOutput, close: () => (closed ??= close()) };
}
