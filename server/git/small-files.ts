// Looks at git's own small files, without waiting: a read costs some microseconds of the disk cache, while handing it
// to another thread and back costs ten times as much of this one, thirty times for each task.

import { lstatSync, readFileSync, readdirSync, type Stats } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { absoluteBytes, type PathBytes } from './paths.ts';

const maxLooksAtOnce = 200;

export function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

export function exists(path: string): boolean {
  return factsOf(path) !== null;
}

/** Of the entry itself, not of what a symbolic link leads to. */
export function factsOf(path: string | Buffer): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export interface FileFacts {
  readonly path: PathBytes;
  readonly stats: Stats | null;
}

/** The facts of many files of a worktree; others get a turn in between. */
export async function factsOfAll(root: string, paths: readonly PathBytes[]): Promise<FileFacts[]> {
  const facts: FileFacts[] = [];
  for (const path of paths) {
    facts.push({ path, stats: factsOf(absoluteBytes(root, path)) });
    if (facts.length % maxLooksAtOnce === 0) await breathe();
  }
  return facts;
}
