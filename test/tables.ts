// The tables behind a store, for tests that check rows directly or create rows that no method of
// the store creates.

import type { Kysely } from 'kysely';
import type { StoreTables } from '../server/store/port.ts';

/** Only tests may ask for this outside of the store: production code uses the store's methods. */
export function tablesOf(db: Kysely<StoreTables>): Kysely<StoreTables> {
  return db;
}
