// Deletes folders: moves them away at once by a rename, and deletes them in the background, one
// after another.

import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { lstatOrNull } from './small-files.ts';

const trashName = '.drover-trash';

export class Trash {
  #work: Promise<void> = Promise.resolve();
  readonly #swept = new Set<string>();

  /**
   * Moves a file or folder to the trash beside `worktree` (on the same file system, so that a
   * rename suffices), to be deleted later. Returns false if it did not exist.
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

  /** Deletes leftovers of a dead process in the trash of this worktree folder. Checks once. */
  sweep(worktreesFolder: string): void {
    if (this.#swept.has(worktreesFolder)) return;
    this.#swept.add(worktreesFolder);
    this.#work = this.#work.then(async () => {
      const folder = join(worktreesFolder, trashName);
      // A link, or a folder with foreign names, belongs to someone else and stays.
      if (!isOwnFolder(folder)) return;
      const names = await readdir(folder).catch(() => []);
      for (const name of names.filter(isGrave)) await removeTree(join(folder, name));
    });
  }

  /** Resolves when everything taken so far is deleted. */
  settled(): Promise<void> {
    return this.#work;
  }

  /** If something else has the name of the trash, it is left alone and another name is used. */
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

/** Whether `take` created this name. */
function isGrave(name: string): boolean {
  return /-[0-9a-f]{8}$/.test(name);
}

/**
 * Deletes a tree, including read-only folders (package caches create these). Files that cannot be
 * deleted stay in the trash for the next sweep.
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
