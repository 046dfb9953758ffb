// Opens the project's database: creates it, migrates it to our schema, or converts one of the
// public Go tool.

import { type Kysely, sql } from 'kysely';
import { createDurableTables } from '../durable/embedded/tables.ts';
import { adoptGoDatabase, kindOfUnversioned } from './exchange/adopt-go.ts';
import { appendEvent, type StoreSources } from './feed/feed.ts';
import type { Store } from './port.ts';
import { createStoreTables, schemaVersion, storeSteps } from './schema/schema.ts';
import { migrate, type Migration } from './sqlite/migrate.ts';
import { keepPast } from './sqlite/past-triggers.ts';
import { openSqlite, type OpenedDatabase, type OpenOptions } from './sqlite/open.ts';
import { createStore } from './store.ts';
import type { StoreTables } from './schema/tables.ts';

export interface OpenStoreOptions extends Pick<
  OpenOptions,
  'durability' | 'busyTimeoutMs' | 'thorough'
> {
  /** Unix milliseconds, for the name of the backup made before a migration. */
  readonly now?: () => number;
}

export interface OpenedStore {
  readonly store: Store;
  /** The connection below the store, for the durable engine, which shares its transactions. */
  readonly database: OpenedDatabase<StoreTables>;
  /** Path of the backup made before a migration, or null. */
  readonly backup: string | null;
  readonly close: () => Promise<void>;
}

const migrations: readonly Migration[] = storeSteps.map((step) =>
  step.version === 1 ? { ...step, up: makeFirstTables } : step,
);

/** The durable engine's tables are in the same file. */
async function makeFirstTables(db: Kysely<unknown>): Promise<void> {
  const createTables = async (): Promise<void> => {
    await createStoreTables(db);
    await createDurableTables(db);
  };
  if ((await kindOfUnversioned(db)) === 'go') await adoptGoDatabase(db, createTables);
  else await createTables();
}

/**
 * Opens or creates the database. A `Refusal` names the file and the remedy, and means that nothing
 * was changed.
 */
export async function openStore(
  path: string,
  sources: StoreSources,
  options: OpenStoreOptions = {},
): Promise<OpenedStore> {
  const { now, ...openOptions } = options;
  const database = openSqlite<StoreTables>(path, openOptions);
  try {
    await refuseUnfit(database.db);
    const outcome = await migrate(database, {
      migrations,
      version: schemaVersion,
      ...(now === undefined ? {} : { now }),
    });
    keepPast(database.raw);
    const store = createStore(database.db, sources);
    if (outcome.from === 0 && outcome.backup !== null) {
      const data = { backup: outcome.backup };
      await store.transaction((tx) => appendEvent(tx, sources, { type: 'database.adopted', data }));
    }
    return {
      store,
      database,
      backup: outcome.backup,
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Checked before anything is created, including the backup. */
async function refuseUnfit(db: Kysely<StoreTables>): Promise<void> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db);
  if (rows[0]?.user_version === 0) await kindOfUnversioned(db);
}
