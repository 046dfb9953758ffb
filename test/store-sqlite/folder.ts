// A folder for one test, and helpers for files in it.

import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { Refusal } from '../../server/core/failure.ts';
import { openSqlite, type OpenedDatabase } from '../../server/store/sqlite/open.ts';
import { removeFolder } from '../remove-folder.ts';

export interface NotesTables {
  notes: { id: number; text: string | null };
}

export async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drover-sqlite-'));
  chmodSync(folder, 0o755);
  try {
    await body(folder);
  } finally {
    removeFolder(folder);
  }
}

/** Creates a valid file with the given number of rows and closes it again. */
export async function makeNotes(path: string, count: number, version = 0): Promise<void> {
  const opened = openSqlite<NotesTables>(path);
  await createNotes(opened, count);
  opened.raw.exec(`pragma user_version = ${version}`);
  await opened.close();
}

export async function createNotes(
  { db }: OpenedDatabase<NotesTables>,
  count: number,
): Promise<void> {
  await sql`create table notes (id integer primary key, text text)`.execute(db);
  await db.transaction().execute(async (tx) => {
    for (let id = 1; id <= count; id += 1) {
      await tx
        .insertInto('notes')
        .values({ id, text: `note ${id} `.repeat(20) })
        .execute();
    }
  });
}

export async function countNotes(path: string): Promise<number> {
  const opened = openSqlite<NotesTables>(path, { readOnly: true });
  const rows = await opened.db.selectFrom('notes').select('id').execute();
  await opened.close();
  return rows.length;
}

/** The bytes of a file, which show that a refusal has changed nothing. */
export function bytesOf(path: string): string {
  return readFileSync(path).toString('base64');
}

export function isRefusal(kind: string, ...words: readonly string[]): (error: unknown) => boolean {
  return (error) => {
    if (!(error instanceof Refusal) || error.kind !== kind) return false;
    const missing = words.filter((word) => !error.message.includes(word));
    if (missing.length > 0) throw new Error(`"${error.message}" lacks ${missing.join(', ')}`);
    return true;
  };
}
