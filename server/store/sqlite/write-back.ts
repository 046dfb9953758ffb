// Writes all commits from the write-ahead log back to the database file.

import { type Kysely, sql } from 'kysely';

/** SQLite does this at the last close, but not for a file that was deleted or moved before. */
export async function writeBack<Tables>(db: Kysely<Tables>): Promise<void> {
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
}
