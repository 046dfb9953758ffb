// The tables behind a store, for tests that check rows themselves or make ones that no verb of the store makes.

import type { Kysely } from 'kysely';
import type { StoreTables } from '../server/store/port.ts';

/** Outside the store only tests may ask for this: production code has the store's verbs. */
export function tablesOf(db: Kysely<StoreTables>): Kysely<StoreTables> {
  return db;
}
