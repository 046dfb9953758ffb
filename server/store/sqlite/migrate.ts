// Migrates a database file to our schema version: completely or not at all, after a backup of an
// older one.

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sql, type Kysely } from 'kysely';
import { Refusal } from '../../core/failure.ts';
import { databaseError, databaseRefusal } from './database-error.ts';
import type { OpenedDatabase } from './open.ts';

export interface Migration {
  /** The file's schema version after this migration. */
  readonly version: number;
  readonly name: string;
  up(db: Kysely<unknown>): Promise<void>;
}

export interface MigrateOptions {
  /** In ascending order of version. The last one leads to `version`. */
  readonly migrations: readonly Migration[];
  readonly version: number;
  /** Unix milliseconds, for the backup's name. */
  readonly now?: () => number;
}

export interface MigrateOutcome {
  readonly from: number;
  readonly to: number;
  /** The backup made before the change; null if the file was new or up to date. */
  readonly backup: string | null;
}

/**
 * Migrates the file. The schema version is SQLite's `user_version`. A file with tables but version
 * 0 was made by another program; it is backed up like an older one, and the first migration
 * converts or refuses it.
 *
 * Several processes may call this for one file at once. The first takes the write lock; the others
 * wait for it and then find the right version.
 */
export async function migrate<Tables>(
  opened: OpenedDatabase<Tables>,
  options: MigrateOptions,
): Promise<MigrateOutcome> {
  if (options.migrations.at(-1)?.version !== options.version) {
    throw new Error('the last migration does not lead to the schema version');
  }
  // A file has one connection, and nothing else uses it before the file is open.
  const db = opened.db as unknown as Kysely<unknown>;
  const found = await versionOf(db);
  refuseNewer(opened.path, found, options.version);
  if (found === options.version) return { from: found, to: found, backup: null };
  // While foreign keys are enforced, dropping a table to rebuild it would delete the rows that
  // refer to it. The pragma has no effect inside a transaction, so it is set outside, and the
  // references are checked before the commit.
  await sql`pragma foreign_keys = off`.execute(db);
  try {
    return await db.transaction().execute((tx) => migrateLocked(opened.path, tx, options));
  } finally {
    await sql`pragma foreign_keys = on`.execute(db);
  }
}

async function migrateLocked(
  path: string,
  tx: Kysely<unknown>,
  options: MigrateOptions,
): Promise<MigrateOutcome> {
  const from = await versionOf(tx);
  refuseNewer(path, from, options.version);
  if (from === options.version) return { from, to: from, backup: null };
  const backup = (await hasTables(tx)) ? backUp(path, from, options.now ?? Date.now) : null;
  for (const migration of options.migrations) {
    if (migration.version > from) await migration.up(tx);
  }
  const broken = await sql`pragma foreign_key_check`.execute(tx);
  if (broken.rows.length > 0) {
    throw databaseRefusal(
      `The database ${path} cannot be brought to version ${options.version}: ${broken.rows.length} rows refer to rows that do not exist; nothing was changed.`,
    );
  }
  await sql`pragma user_version = ${sql.lit(options.version)}`.execute(tx);
  return { from, to: options.version, backup };
}

function refuseNewer(path: string, found: number, ours: number): void {
  if (found <= ours) return;
  throw new Refusal(
    'newer database',
    `The database ${path} has schema version ${found}, this Drover knows version ${ours}; nothing was changed. Update Drover, or use the version that wrote it.`,
  );
}

async function versionOf(db: Kysely<unknown>): Promise<number> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db);
  return rows[0]?.user_version ?? 0;
}

async function hasTables(db: Kysely<unknown>): Promise<boolean> {
  const { rows } = await sql`select 1 from sqlite_schema where type = 'table' limit 1`.execute(db);
  return rows.length > 0;
}

/**
 * Copies the committed state of the file through a second, read-only connection. The caller holds
 * the write lock, so nothing can change between the copy and the migration. Returns null for a
 * database in memory.
 */
function backUp(path: string, version: number, now: () => number): string | null {
  if (path === ':memory:') return null;
  const backup = freeName(`${path}.backup-v${version}-${Math.floor(now() / 1000)}`);
  const partial = `${backup}.partial`;
  rmSync(partial, { force: true });
  try {
    const reader = new DatabaseSync(path, { readOnly: true });
    try {
      reader.prepare('vacuum into ?').run(partial);
    } finally {
      reader.close();
    }
    const file = openSync(partial, 'r+');
    fsyncSync(file);
    closeSync(file);
    renameSync(partial, backup);
  } catch (error) {
    rmSync(partial, { force: true });
    throw databaseError(error, backup);
  }
  return backup;
}

function freeName(wanted: string): string {
  const namesMax = 100;
  for (let n = 1; n <= namesMax; n += 1) {
    const name = n === 1 ? wanted : `${wanted}-${n}`;
    if (!existsSync(name)) return name;
  }
  throw databaseRefusal(
    `Too many backups are named ${wanted}. Nothing was changed. Move some away, then try again.`,
  );
}
