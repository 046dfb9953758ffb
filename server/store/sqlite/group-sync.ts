// Brings commits to the disk in groups: one flush of the write-ahead log serves every commit that
// came before it, and runs beside this thread instead of inside it.
//
// SQLite's own `synchronous = full` flushes at each commit and lets the whole process wait. Here
// SQLite runs with `normal`: a commit is appended to the log without a flush (the log is still
// flushed before its pages go into the database, so the file can't be damaged), and whoever commits
// is answered after a flush of ours. The promise is the same: what was answered survives a loss of
// power.

import { close, fdatasync, fsync, open } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { databaseRefusal } from './database-error.ts';

const openFile = promisify(open);
const closeFile = promisify(close);
const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);

export interface GroupSync {
  /** Resolves when everything committed before the call is on the disk. */
  flushed(): Promise<void>;
  close(): Promise<void>;
}

export function openGroupSync(databasePath: string): GroupSync {
  const path = `${databasePath}-wal`;
  let file: Promise<number> | null = null;
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  const flush = async (): Promise<void> => {
    try {
      file ??= openLog(path);
      await syncData(await file);
    } catch (error) {
      file = null;
      const reason = error instanceof Error ? error.message : String(error);
      throw databaseRefusal(
        `Flushing the database ${databasePath} to the disk failed (${reason}). Check the disk, then try again.`,
        error,
      );
    }
  };
  const begin = (): Promise<void> => {
    const mine = flush();
    const done = (): void => {
      if (running === settled) running = null;
    };
    const settled: Promise<void> = mine.then(done, done);
    running = settled;
    return mine;
  };
  return {
    flushed: () => {
      if (running === null) return begin();
      // The running flush may have begun before this commit, so it waits for the next one, with all
      // who come by then.
      next ??= running.then(() => {
        next = null;
        return begin();
      });
      return next;
    },
    close: async () => {
      await next?.catch(() => undefined);
      await running;
      if (file !== null) await closeFile(await file);
      file = null;
    },
  };
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
