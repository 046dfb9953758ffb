// Converts SQLite errors to a refusal that names the file and the remedy.

import { readdirSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import { openers } from './openers.ts';

/** SQLite's primary result codes for problems that a user can fix. */
const codes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  damaged: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/** The primary result code of a SQLite error; null for any other error. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : null;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === codes.busy || code === codes.locked;
}

/**
 * Converts an error about the file or the disk to a refusal. Any other error (a violated
 * constraint, bad SQL) is a bug of the caller and returned unchanged.
 */
export function databaseError(error: unknown, path: string): unknown {
  const code = sqliteCode(error);
  const message = code === null ? null : messageOf(code, path, (error as Error).message);
  return message === null ? error : databaseRefusal(message, error);
}

export function databaseRefusal(message: string, cause?: unknown): Refusal {
  const refusal = new Refusal('database', message);
  if (cause !== undefined) refusal.cause = cause;
  return refusal;
}

export function damagedMessage(path: string, detail: string): string {
  return `The database ${path} is damaged (${detail}); nothing was changed. ${restoreAdvice(path)}`;
}

function messageOf(code: number, path: string, detail: string): string | null {
  switch (code) {
    case codes.busy:
    case codes.locked:
      return `The database ${path} is locked by ${holderOf(path)} and did not become free in time; nothing was changed. End that process or wait, then try again.`;
    case codes.readOnly:
      return `The database ${path} cannot be written; nothing was changed. Make the file and its folder writable, then try again.`;
    case codes.ioError:
      // This is how growing a file beside the database fails if the disk is full.
      if (isDiskFull(dirname(path))) return messageOf(codes.full, path, detail);
      return `Reading or writing the database ${path} failed (${detail}); nothing was changed. Check the disk, then try again.`;
    case codes.damaged:
      return damagedMessage(path, detail);
    case codes.full:
      return `No space is left for the database ${path}; nothing was changed. Free some space on its disk, then try again.`;
    case codes.cannotOpen:
      return `The database ${path} cannot be opened; nothing was changed. Check that its folder exists and is readable and writable, then try again.`;
    case codes.notADatabase:
      return `The file ${path} is not a database; nothing was changed. ${restoreAdvice(path)}`;
    default:
      return null;
  }
}

/** Only Linux exposes which processes have a file open. */
function holderOf(path: string): string {
  const found = openers(path);
  if (found.length === 0) return 'another process';
  const names = found.map(({ pid, program }) => `process ${pid} (${program})`).join(', ');
  return `another process: ${names} ${found.length === 1 ? 'has' : 'have'} it open`;
}

const roomBytesMin = 64 * 1024;

function isDiskFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < roomBytesMin;
  } catch {
    return false;
  }
}

function restoreAdvice(path: string): string {
  const backup = newestBackup(path);
  return backup === null
    ? 'Move it away, then try again with a new one.'
    : `Move it away and put the newest backup, ${backup}, in its place.`;
}

/** The latest backup that a migration left beside the file. */
function newestBackup(path: string): string | null {
  const prefix = `${basename(path)}.backup-v`;
  try {
    const backups = readdirSync(dirname(path))
      .filter((name) => name.startsWith(prefix) && !name.endsWith('.partial'))
      .map((name) => join(dirname(path), name))
      .map((file) => ({ file, changedMs: statSync(file).mtimeMs }));
    backups.sort((a, b) => b.changedMs - a.changedMs);
    return backups[0]?.file ?? null;
  } catch {
    return null; // The folder cannot be read. The advice is still correct without a backup.
  }
}
