// Tests whether disks have space, by writing a file on each: the numbers of a file system ignore
// quotas, and a program's output does not prove it.

import { randomBytes, randomUUID } from 'node:crypto';
import { open, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isFullDisk } from '../core/full-disk.ts';

/** The space that a disk must have at least. */
const spaceBytes = 1024 * 1024;

/** The first of these folders on a full disk; missing ones are skipped. */
export async function fullDiskAmong(folders: readonly string[]): Promise<string | null> {
  const tried = new Set<number>();
  for (const folder of folders) {
    const facts = await stat(folder).catch(() => null);
    if (facts === null || tried.has(facts.dev)) continue;
    tried.add(facts.dev);
    if (await isFull(folder)) return folder;
  }
  return null;
}

async function isFull(folder: string): Promise<boolean> {
  const path = join(folder, `.drover-space-${randomUUID()}`);
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      // At once: it is gone whatever happens now.
      await unlink(path);
      // Some disks compress repeated data.
      await file.writeFile(randomBytes(spaceBytes));
    } finally {
      await file.close();
    }
    return false;
  } catch (error) {
    return isFullDisk(error);
  }
}
