// Opens a SQLite file in the one way that Drover uses: WAL, foreign keys, a busy timeout, and an
// integrity check.

import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { damagedMessage, databaseError, databaseRefusal, isBusy } from './database-error.ts';
import { sqliteDialect } from './driver.ts';
import { GroupSync } from './group-sync.ts';

export interface OpenOptions {
  /** Opens without ever writing; the file must exist. */
  readonly readOnly?: boolean;
  /**
   * `full` (the default): a commit is on the disk when it returns. `grouped`: the same, but commits
   * that come close together share one flush, beside this thread. `normal`: a loss of power may
   * take the last ones.
   */
  readonly durability?: 'full' | 'grouped' | 'normal';
  /** If false, only files of a few megabytes are checked whole. */
  readonly thorough?: boolean;
  /** How long a statement waits for another process's write. */
  readonly busyTimeoutMs?: number;
}

export interface OpenedDatabase<Tables = unknown> {
  readonly path: string;
  /**
   * There is one connection, used in turn: inside a transaction use the one you get, because `db`
   * itself would wait for that transaction to end. And wait for nothing slow inside one.
   */
  readonly db: Kysely<Tables>;
  /** The same connection without Kysely, for pragmas outside a transaction. */
  readonly raw: DatabaseSync;
  /** Waits for running statements, then closes. A second call does nothing. */
  close(): Promise<void>;
}

const busyTimeoutDefaultMs = 5_000;
const quickBytesMax = 4 * 1024 * 1024;
const walLimitBytes = 16 * 1024 * 1024;

/**
 * Opens the file, creating it unless `readOnly`. Throws a `Refusal` of kind `database` that names
 * the file and the remedy.
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
    // Through the queue of the connection, so that a transaction under way ends first.
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
 * A command ends its process without waiting for a close. Its writes would stay in the write-ahead
 * log, beside a database file that does not contain them yet.
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
      // The log keeps everything; the next opening brings it over. The exit code stays as it is.
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
 * Before anything is changed: a damaged file must not be written to. The check reads the whole
 * file, so a short-lived opening (a command that only asks) of a large one leaves it to the
 * backend, which opens it once for a long time.
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

/** The check prints the database that it checked on a separate line, between asterisks. */
function inOneLine(verdict: string): string {
  const words = verdict
    .replace(/^\*{3}[^\n]*\n/u, '')
    .replace(/\s+/gu, ' ')
    .trim();
  return words.length > 200 ? `${words.slice(0, 199)}…` : words;
}

/**
 * SQLite opens a file that it may not write as if it were opened read-only, and reports it at the
 * first write. That is too late for Drover. A lock of another process says nothing about it, so
 * this does not wait.
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
 * When several processes switch a new file at the same time, SQLite answers "locked" immediately;
 * when another program reads a file that is out of WAL mode, it waits for the busy timeout in each
 * try. So SQLite must not wait here, and Drover tries again until one busy timeout is over. It
 * blocks, but only for a file that is not in WAL mode.
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
