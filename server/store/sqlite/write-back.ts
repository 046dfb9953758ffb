// Moves every commit from the write-ahead log into the database's own file.

import { type Kysely, sql } from 'kysely';

/**
 * SQLite itself does so at the last close, but not for a file that was deleted or moved in the
 * meantime.
 */
export async function writeBack<Tables>(db: Kysely<Tables>): Promise<void> {
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
}
