// Tests whether disks have space by writing a file to each. A file system's numbers ignore quotas,
// and a program's output is no proof.

import { randomBytes, randomUUID } from 'node:crypto';
import { open, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isFullDisk } from '../core/full-disk.ts';

/** The minimum space that a disk must have. */
const spaceBytes = 1024 * 1024;

/** The first of these folders that is on a full disk. Skips missing ones. */
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
      // Removed at once, so that it is gone whatever happens next.
      await unlink(path);
      // Random, because some disks compress repeated data.
      await file.writeFile(randomBytes(spaceBytes));
    } finally {
      await file.close();
    }
    return false;
  } catch (error) {
    return isFullDisk(error);
  }
}
