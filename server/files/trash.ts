// Folders that are done with: moved aside at once by a rename, deleted in the background, one after
// the other.

import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { lstatOrNull } from './small-files.ts';

const trashName = '.drover-trash';

export class Trash {
  #work: Promise<void> = Promise.resolve();
  readonly #swept = new Set<string>();

  /**
   * Moves a file or folder into the trash beside `worktree` (on the same file system, so a rename
   * does it); it is deleted later. False when there was nothing to move.
   */
  async take(path: string, worktree: string): Promise<boolean> {
    const folder = await this.#folderBeside(worktree);
    const grave = join(folder, `${basename(path)}-${randomUUID().slice(0, 8)}`);
    try {
      await rename(path, grave);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
    this.#deleteLater(grave);
    return true;
  }

  /**
   * Deletes the leftovers of a dead process in the trash of this folder of worktrees; checks once.
   */
  sweep(worktreesFolder: string): void {
    if (this.#swept.has(worktreesFolder)) return;
    this.#swept.add(worktreesFolder);
    this.#work = this.#work.then(async () => {
      const folder = join(worktreesFolder, trashName);
      // A link, or a folder with names that are not ours, belongs to someone else and stays.
      if (!isOwnFolder(folder)) return;
      const names = await readdir(folder).catch(() => []);
      for (const name of names.filter(isGrave)) await removeTree(join(folder, name));
    });
  }

  /** Resolves when everything taken so far is deleted. */
  settled(): Promise<void> {
    return this.#work;
  }

  /**
   * Something with the name of the trash that is not Drover's folder is left alone, and another
   * name is used.
   */
  async #folderBeside(worktree: string): Promise<string> {
    const usual = join(dirname(worktree), trashName);
    await mkdir(usual, { recursive: true, mode: 0o700 }).catch(() => undefined);
    if (isOwnFolder(usual)) return usual;
    return mkdtemp(`${usual}-`);
  }

  #deleteLater(grave: string): void {
    this.#work = this.#work.then(() => removeTree(grave));
  }
}

function isOwnFolder(path: string): boolean {
  const facts = lstatOrNull(path);
  return facts?.isDirectory() === true && facts.uid === (process.getuid?.() ?? facts.uid);
}

/** Named by `take`. */
function isGrave(name: string): boolean {
  return /-[0-9a-f]{8}$/.test(name);
}

/**
 * Deletes a tree, read-only folders too (package caches make such). Files that resist stay in the
 * trash for the next sweep.
 */
async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await makeWritable(path);
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
  }
}
