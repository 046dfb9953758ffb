// Flushes commits to the disk in groups. One flush of the write-ahead log serves every commit
// before it, and runs outside of this thread.
//
// SQLite's own `synchronous = full` flushes at each commit and blocks the whole process. Here
// SQLite runs with `normal`: a commit is appended to the log without a flush, and the committer
// gets its response after our flush. The log is still flushed before its pages go into the
// database, so the file cannot be damaged. The guarantee is the same: an acknowledged commit
// survives a power failure.

import { close, fdatasync, fsync, open } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { databaseRefusal } from './database-error.ts';

const endOfTurn = promisify(setImmediate);
const openFile = promisify(open);
const closeFile = promisify(close);
const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);

export class GroupSync {
  readonly #databasePath: string;
  #file: Promise<number> | null = null;
  #running: Promise<void> | null = null;
  /** The next flush, which has not started and serves all callers until it does. */
  #next: Promise<void> | null = null;

  constructor(databasePath: string) {
    this.#databasePath = databasePath;
  }

  /** Resolves when everything committed before the call is on the disk. */
  flushed(): Promise<void> {
    return (this.#next ??= this.#begin());
  }

  async close(): Promise<void> {
    await this.#next?.catch(() => undefined);
    await this.#running;
    if (this.#file !== null) await closeFile(await this.#file);
    this.#file = null;
  }

  async #begin(): Promise<void> {
    // A running flush may have started before the commits that wait for this one. Waiting for the
    // end of the event loop's turn also includes later commits of that turn, which delays nothing.
    await (this.#running ?? endOfTurn());
    this.#next = null;
    const flush = this.#flush();
    const done = (): void => {
      if (this.#running === settled) this.#running = null;
    };
    const settled: Promise<void> = flush.then(done, done);
    this.#running = settled;
    return flush;
  }

  async #flush(): Promise<void> {
    try {
      this.#file ??= openLog(`${this.#databasePath}-wal`);
      await syncData(await this.#file);
    } catch (error) {
      this.#file = null;
      const reason = error instanceof Error ? error.message : String(error);
      throw databaseRefusal(
        `Flushing the database ${this.#databasePath} to the disk failed (${reason}). Check the disk, then try again.`,
        error,
      );
    }
  }
}

/**
 * The log exists while a connection is open. Its directory entry must survive a power failure too.
 */
async function openLog(path: string): Promise<number> {
  const file = await openFile(path, 'r+');
  await syncFolder(dirname(path));
  return file;
}

/** Some systems cannot flush folders; they persist the name themselves. */
async function syncFolder(path: string): Promise<void> {
  const folder = await openFile(path, 'r').catch(() => null);
  if (folder === null) return;
  await syncAll(folder).catch(() => undefined);
  await closeFile(folder);
}
