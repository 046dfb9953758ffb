// An empty store in memory. Its tables are created once per process, because creating them for each
// test took a third of the CPU time of all store tests.

import { openStore, type OpenedStore } from '../../server/store/open.ts';
import type { StoreSources } from '../../server/store/port.ts';
import type { StoreTables } from '../../server/store/schema/tables.ts';
import { openSqlite } from '../../server/store/sqlite/open.ts';
import { keepPast } from '../../server/store/sqlite/past-triggers.ts';
import { createStore } from '../../server/store/store.ts';

/** The database in SQLite's own format. */
let made: Promise<Uint8Array> | null = null;

async function emptyImage(): Promise<Uint8Array> {
  const first = await openStore(':memory:', {
    clock: { now: () => 1_800_000_000_000, timer: () => () => undefined },
    uuid: () => 'setup',
    random: (bytes) => new Uint8Array(bytes),
  });
  const image = first.database.raw.serialize();
  await first.close();
  return image;
}

export async function openEmptyStore(sources: StoreSources): Promise<OpenedStore> {
  made ??= emptyImage();
  const image = await made;
  const database = openSqlite<StoreTables>(':memory:');
  database.raw.deserialize(image);
  keepPast(database.raw);
  const store = createStore(database.db, sources);
  return { store, database, backup: null, close: () => database.close() };
}
