// Opens a SQLite file in the one way that Drover uses: WAL, foreign keys, a busy timeout and an
// integrity check.

import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { damagedMessage, databaseError, databaseRefusal, isBusy } from './database-error.ts';
import { sqliteDialect } from './driver.ts';
import { GroupSync } from './group-sync.ts';

export interface OpenOptions {
  /** Opens without ever writing. The file must exist. */
  readonly readOnly?: boolean;
  /**
   * `full` (default): a commit is on the disk when it returns. `grouped`: the same, but commits
   * that are close together share one flush outside of this thread. `normal`: a power failure may
   * lose the last commits.
   */
  readonly durability?: 'full' | 'grouped' | 'normal';
  /** If false, only files of a few megabytes are checked completely. */
  readonly thorough?: boolean;
  /** How long a statement waits for another process's write. */
  readonly busyTimeoutMs?: number;
}

export interface OpenedDatabase<Tables = unknown> {
  readonly path: string;
  /**
   * All callers share one connection. Inside a transaction, use the handle that you get, because
   * `db` would wait for that transaction to end, and do not wait for anything slow.
   */
  readonly db: Kysely<Tables>;
  /** The connection without Kysely, for pragmas outside a transaction. */
  readonly raw: DatabaseSync;
  /** Waits for running statements, then closes. A second call does nothing. */
  close(): Promise<void>;
}

const busyTimeoutDefaultMs = 5_000;
const quickBytesMax = 4 * 1024 * 1024;
const walLimitBytes = 16 * 1024 * 1024;

/**
 * Opens the file, and creates it unless `readOnly`. Throws a `Refusal` of kind `database` that
 * names the file and the remedy.
 */
export function openSqlite<Tables>(
  path: string,
  options: OpenOptions = {},
): OpenedDatabase<Tables> {
  const busyTimeoutMs = options.busyTimeoutMs ?? busyTimeoutDefaultMs;
  const readOnly = options.readOnly ?? false;
  let raw: DatabaseSync | null = null;
  try {
    raw = new DatabaseSync(path, { readOnly, timeout: busyTimeoutMs });
    if (hasContent(path)) {
      checkSound(raw, path, options.thorough ?? true);
      if (!readOnly) checkWritable(raw);
    }
    raw.exec(`pragma busy_timeout = ${busyTimeoutMs}`);
    raw.exec('pragma foreign_keys = on');
    if (!readOnly) {
      if (path !== ':memory:') switchToWal(raw, busyTimeoutMs);
      raw.exec(
        `pragma synchronous = ${(options.durability ?? 'full') === 'full' ? 'full' : 'normal'}`,
      );
      raw.exec(`pragma journal_size_limit = ${walLimitBytes}`);
    }
  } catch (error) {
    raw?.close();
    throw databaseError(error, path);
  }
  const isGrouped = options.durability === 'grouped' && !readOnly && path !== ':memory:';
  return opened<Tables>(raw, path, isGrouped ? new GroupSync(path) : null);
}

function opened<Tables>(
  raw: DatabaseSync,
  path: string,
  sync: GroupSync | null,
): OpenedDatabase<Tables> {
  const db = new Kysely<Tables>({ dialect: sqliteDialect(raw, path, sync) });
  closeAtExit(raw);
  let closed: Promise<void> | null = null;
  const closeOnce = async (): Promise<void> => {
    // Uses the connection's queue, so that a running transaction ends first.
    await db.connection().execute(async () => undefined);
    await db.destroy();
    close(raw);
  };
  return {
    path,
    db,
    raw,
    close: () => (closed ??= closeOnce()),
  };
}

const stillOpen = new Set<DatabaseSync>();

/**
 * Writes back when the process exits, because a command exits without closing. Its writes would
 * otherwise stay in the write-ahead log, beside a database file that does not contain them yet.
 */
function closeAtExit(raw: DatabaseSync): void {
  if (stillOpen.size === 0) process.once('exit', closeAll);
  stillOpen.add(raw);
}

function closeAll(): void {
  for (const raw of stillOpen) {
    try {
      close(raw);
    } catch {
      // The log still has everything, and the next process that opens the file writes it back. The
      // exit code must not change.
    }
  }
}

function close(raw: DatabaseSync): void {
  stillOpen.delete(raw);
  if (stillOpen.size === 0) process.off('exit', closeAll);
  if (raw.isOpen) raw.close();
}

function hasContent(path: string): boolean {
  if (path === ':memory:') return false;
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Checks the file before anything is changed, because a damaged file must not be written to. The
 * check reads the whole file, so a command that only reads skips it for a large one; the backend
 * checks it when it opens the file.
 */
function checkSound(raw: DatabaseSync, path: string, thorough: boolean): void {
  if (!thorough && statSync(path).size > quickBytesMax) {
    raw.prepare('select count(*) from sqlite_schema').get();
    return;
  }
  const row = raw.prepare('pragma quick_check(1)').get();
  const verdict = row?.['quick_check'];
  if (verdict !== 'ok') throw databaseRefusal(damagedMessage(path, inOneLine(String(verdict))));
}

/** The check prints the name of the checked database on a separate line, between asterisks. */
function inOneLine(verdict: string): string {
  const words = verdict
    .replace(/^\*{3}[^\n]*\n/u, '')
    .replace(/\s+/gu, ' ')
    .trim();
  return words.length > 200 ? `${words.slice(0, 199)}…` : words;
}

/**
 * SQLite opens a file that it cannot write as if it were read-only, and reports that only at the
 * first write, which is too late for Drover. Another process's lock does not affect this check, so
 * it does not wait.
 */
function checkWritable(raw: DatabaseSync): void {
  raw.exec('pragma busy_timeout = 0');
  try {
    raw.exec('begin immediate; rollback');
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}

/**
 * If several processes switch a new file at the same time, SQLite immediately reports "locked"; if
 * another program reads a file that is not in WAL mode, it waits for the busy timeout at each try.
 * Therefore SQLite must not wait here, and Drover retries until one busy timeout is over. This
 * blocks the thread, but only for a file that is not in WAL mode.
 */
function switchToWal(raw: DatabaseSync, busyTimeoutMs: number): void {
  const pauseMs = 10;
  const endMs = performance.now() + busyTimeoutMs;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  raw.exec('pragma busy_timeout = 0');
  for (;;) {
    try {
      raw.exec('pragma journal_mode = wal');
      break;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= endMs) throw error;
      Atomics.wait(pause, 0, 0, pauseMs);
    }
  }
  raw.exec(`pragma busy_timeout = ${busyTimeoutMs}`);
}
