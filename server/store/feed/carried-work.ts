// Transfers finished work from a machine that reaches the database but not the git remote. It is
// stored beside the output of its attempt and deleted with it. Only PostgreSQL contains any.

import { sql } from 'kysely';
import type { Db } from '../rows/one-moment.ts';

/** Bytes per row, because the time for one statement is limited. */
const partBytes = 256 * 1024;
/** Larger work waits for the git remote. */
const packBytesMax = 32 * 1024 * 1024;

/** Returns false if it is too large. `attempt`: task and number, as in branch names. */
export async function storeCarried(
  db: Db,
  { attempt, commit, pack }: CarriedWork,
): Promise<boolean> {
  if (pack.length > packBytesMax) return false;
  const file = `${attempt}.${commit}${ending}`;
  // Another process may have been killed while it stored the work.
  await db.deleteFrom('log_parts').where('file', '=', file).execute();
  for (let start = 0; start < pack.length; start += partBytes) {
    const part = pack.subarray(start, start + partBytes);
    await sql`insert into log_parts (file, start, size, text, at_ms)
      values (${file}, ${start}, ${part.length}, ${part.toString('base64')},
        (extract(epoch from clock_timestamp()) * 1000)::bigint)`.execute(db);
  }
  return true;
}

export interface CarriedWork {
  readonly attempt: string;
  readonly commit: string;
  /** The commits' objects, as packed by git. */
  readonly pack: Buffer;
}

/** Returns null if no machine has stored the commit. */
export async function readCarried(db: Db, commit: string): Promise<Buffer | null> {
  const rows = await db
    .selectFrom('log_parts')
    .select('text')
    .where('file', 'like', `%.${commit}${ending}`)
    .orderBy('start')
    .execute();
  if (rows.length === 0) return null;
  return Buffer.concat(rows.map(({ text }) => Buffer.from(text, 'base64')));
}

const ending = '.pack';
