// What workflows do to files outside of git: copies of ignored files, prompts on disk.

import { copyFile, lstat, mkdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, relative, sep } from 'node:path';
import type { WorkFiles } from '../workflows/engine.ts';

/** A single file larger than this is not copied into worktrees. */
const copyBytesMax = 64 * 1024 * 1024;

export const workFiles: WorkFiles = {
  copyIgnored: async (root, worktree, paths) => {
    const copied: string[] = [];
    for (const path of paths) {
      if (await copyOne(root, worktree, path)) copied.push(path);
    }
    return copied;
  },

  exists: async (path) => {
    try {
      await lstat(path);
      return true;
    } catch {
      return false;
    }
  },

  writeText: async (path, text) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o600 });
  },
};

/** Only plain files below the checkout, never through a link out of it, never over something that is there. */
async function copyOne(root: string, worktree: string, path: string): Promise<boolean> {
  const clean = normalize(path);
  if (isAbsolute(clean) || clean === '..' || clean.startsWith(`..${sep}`)) return false;
  try {
    const from = await realpath(join(root, clean));
    if (relative(await realpath(root), from).startsWith('..')) return false;
    const stat = await lstat(from);
    if (!stat.isFile() || stat.size > copyBytesMax) return false;
    const to = join(worktree, clean);
    await mkdir(dirname(to), { recursive: true });
    const inside = relative(await realpath(worktree), await realpath(dirname(to)));
    if (inside.startsWith('..') || isAbsolute(inside)) return false;
    await copyFile(from, to);
    return true;
  } catch {
    return false;
  }
}
