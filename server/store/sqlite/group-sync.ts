// Flushes commits to the disk in groups: one flush of the write-ahead log serves every commit
// before it, and runs beside this thread instead of inside it.
//
// SQLite's own `synchronous = full` flushes at each commit and blocks the whole process. Here
// SQLite runs with `normal`: a commit is appended to the log without a flush (the log is still
// flushed before its pages go into the database, so the file cannot be damaged), and the committer
// gets its answer after a flush of ours. The guarantee is the same: an answered commit survives a
// loss of power.

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
  /** Has not started: it serves all callers until then. */
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
    // A running flush may have started before the commits that wait for this one. Commits that are
    // made before the event loop comes round are served as well: nothing else could run anyway.
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

/** The log exists while a connection is open. Its name has to last as well. */
async function openLog(path: string): Promise<number> {
  const file = await openFile(path, 'r+');
  await syncFolder(dirname(path));
  return file;
}

/** Some systems cannot flush folders; there the name is theirs to keep. */
async function syncFolder(path: string): Promise<void> {
  const folder = await openFile(path, 'r').catch(() => null);
  if (folder === null) return;
  await syncAll(folder).catch(() => undefined);
  await closeFile(folder);
}
