// Finished work on its way to other machines, from a machine that reaches the database but not the
// git remote. It is stored beside the output of its attempt, and deleted with it. Only a PostgreSQL
// holds any.

import { sql } from 'kysely';
import type { Db } from '../rows/one-moment.ts';

/** Bytes of one row; a statement has only so much time. */
const partBytes = 256 * 1024;
/** Larger work waits for the git remote. */
const packBytesMax = 32 * 1024 * 1024;

/** False if it is too large. `attempt`: the task and its number, as in names of branches. */
export async function storeCarried(
  db: Db,
  { attempt, commit, pack }: CarriedWork,
): Promise<boolean> {
  if (pack.length > packBytesMax) return false;
  const file = `${attempt}.${commit}${ending}`;
  // A process that was killed while it stored may have left some of them.
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
  /** The objects of its commits, as git packs them. */
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
