// Reads and writes small files synchronously: a read from the disk cache takes microseconds, and
// passing it to another thread would cost ten times as much, thirty times per task.

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { absoluteBytes, parentFolder, type PathBytes } from './path-bytes.ts';

const maxLooksAtOnce = 200;

/** Longer files are not read completely. */
const textBytesMax = 64 * 1024 * 1024;
const readFlags = constants.O_RDONLY | ((constants as Partial<typeof constants>).O_NONBLOCK ?? 0);

/** Also returns null if an agent has replaced the file by a pipe, a device or a huge file. */
export function readText(file: string): string | null {
  return openedFile(file, textBytesMax, (opened) => readFileSync(opened, 'utf8'));
}

export function readPlain(file: string | Buffer, bytesMax = textBytesMax): Buffer | null {
  return openedFile(file, bytesMax, (opened) => readFileSync(opened));
}

function openedFile<T>(
  file: string | Buffer,
  bytesMax: number,
  read: (opened: number) => T,
): T | null {
  let opened: number;
  try {
    opened = openSync(file, readFlags);
  } catch {
    return null;
  }
  try {
    const facts = fstatSync(opened);
    return facts.isFile() && facts.size <= bytesMax ? read(opened) : null;
  } catch {
    return null;
  } finally {
    closeSync(opened);
  }
}

/** Replaces an existing file. Never writes through a link or into a file with other names. */
export async function writeNew(file: string, text: string | Buffer): Promise<void> {
  await removeEntry(file);
  writeFileSync(file, text, { flag: 'wx' });
}

/** A folder, which only an agent can have created there, may contain very much. */
export async function removeEntry(file: string): Promise<void> {
  const facts = lstatOrNull(file);
  if (facts === null) return;
  if (facts.isDirectory()) await rm(file, { recursive: true, force: true });
  else rmSync(file, { force: true });
}

export function exists(path: string | Buffer): boolean {
  return lstatOrNull(path) !== null;
}

/** Facts about the entry itself, not about a symbolic link's target. */
export function lstatOrNull(path: string | Buffer): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

export function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export interface FileFacts {
  readonly path: PathBytes;
  /** Null if the file does not exist or belongs to another folder. */
  readonly stats: Stats | null;
  /** A parent folder has been replaced by a link. */
  readonly isBehindLink: boolean;
}

/** The facts about many files of a worktree. Yields to other work in between. */
export async function factsOfAll(root: string, paths: readonly PathBytes[]): Promise<FileFacts[]> {
  const links = new Map<PathBytes, boolean>([['', false]]);
  const leadsAway = (folder: PathBytes): boolean => {
    const known = links.get(folder);
    if (known !== undefined) return known;
    const isLink = lstatOrNull(absoluteBytes(root, folder))?.isSymbolicLink() === true;
    const answer = isLink || leadsAway(parentFolder(folder));
    links.set(folder, answer);
    return answer;
  };
  const facts: FileFacts[] = [];
  for (const path of paths) {
    const isBehindLink = leadsAway(parentFolder(path));
    const stats = isBehindLink ? null : lstatOrNull(absoluteBytes(root, path));
    facts.push({ path, stats, isBehindLink });
    if (facts.length % maxLooksAtOnce === 0) await yieldToEventLoop();
  }
  return facts;
}
