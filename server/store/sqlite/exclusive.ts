// A lock that one process holds for its lifetime: an open exclusive transaction on a small separate
// SQLite file.
//
// The operating system holds it, so a killed owner leaves nothing behind and a reused pid has no
// effect. The file must never be opened in another way, because on POSIX systems closing it once
// would release the lock of the whole process.

import { DatabaseSync } from 'node:sqlite';
import { databaseError, isBusy } from './database-error.ts';

export interface ExclusiveLock {
  readonly path: string;
  /** Lets the next process acquire it. A second call does nothing. */
  release(): void;
}

/**
 * Returns the lock, or null if another process (or another caller in this one) holds it. Never
 * waits.
 */
export function acquireExclusive(path: string): ExclusiveLock | null {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    // In WAL mode an exclusive transaction would still allow readers, and would leave two more
    // files.
    database.exec('pragma journal_mode = delete');
    database.exec('begin exclusive');
  } catch (error) {
    database?.close();
    if (isBusy(error)) return null;
    throw databaseError(error, path);
  }
  const held = database;
  return {
    path,
    release: () => {
      if (held.isOpen) held.close();
    },
  };
}
