// The workflows' file operations outside of git: copying ignored files, storing prompts.

import {
  constants,
  copyFile,
  lstat,
  mkdir,
  realpath,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, normalize, relative, sep } from 'node:path';
import { fullDiskAmong } from './full-disk.ts';

/** Larger files are not copied into worktrees. */
const copyBytesMax = 64 * 1024 * 1024;

export const workFiles = {
  copyIgnored: async (
    root: string,
    worktree: string,
    paths: readonly string[],
  ): Promise<readonly string[]> => {
    const copied: string[] = [];
    for (const path of paths) {
      if (await copyOne(root, worktree, path)) copied.push(path);
    }
    return copied;
  },

  exists: async (path: string): Promise<boolean> => {
    try {
      await lstat(path);
      return true;
    } catch {
      return false;
    }
  },

  isFile: async (path: string): Promise<boolean> =>
    (await lstat(path).catch(() => null))?.isFile() === true,

  writeText: async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o600 });
  },

  fullDisk: (folders: readonly string[]): Promise<string | null> =>
    fullDiskAmong([...folders, tmpdir()]),
};

/**
 * Copies only regular files below the checkout, and never through a link: neither out of the
 * checkout nor through one that an earlier attempt left in the worktree. An existing file is
 * replaced as a whole.
 */
async function copyOne(root: string, worktree: string, path: string): Promise<boolean> {
  const clean = normalize(path);
  if (isAbsolute(clean) || clean === '..' || clean.startsWith(`..${sep}`)) return false;
  try {
    const from = await realpath(join(root, clean));
    if (relative(await realpath(root), from).startsWith('..')) return false;
    const stat = await lstat(from);
    if (!stat.isFile() || stat.size > copyBytesMax) return false;
    const to = join(worktree, clean);
    if (!(await makeFolders(worktree, dirname(clean)))) return false;
    const fresh = `${to}.drover-${process.pid}`;
    await rm(fresh, { recursive: true, force: true });
    try {
      await copyFile(from, fresh, constants.COPYFILE_EXCL);
      await rename(fresh, to);
    } catch {
      await rm(fresh, { force: true });
      return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** Returns false if something other than a folder, such as a link, exists at the path. */
async function makeFolders(worktree: string, folder: string): Promise<boolean> {
  let place = worktree;
  for (const name of folder.split(sep).filter((part) => part !== '.')) {
    place = join(place, name);
    await mkdir(place).catch(() => undefined);
    if (!(await lstat(place)).isDirectory()) return false;
  }
  return true;
}
