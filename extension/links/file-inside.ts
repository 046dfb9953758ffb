// Checks whether a file that untrusted text names is inside an allowed folder, with links resolved.

import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';

/**
 * The real path of a file inside one of the folders, or null. A relative path is relative to the
 * first folder.
 */
export async function fileInside(path: string, folders: readonly string[]): Promise<string | null> {
  const [root] = folders;
  if (root === undefined || path.includes('\0')) return null;
  const file = await realOrNull(isAbsolute(path) ? path : join(root, path));
  if (file === null) return null;
  for (const folder of new Set(folders)) {
    const real = await realOrNull(folder);
    if (real !== null && isBelow(real, file)) return file;
  }
  return null;
}

function isBelow(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}

async function realOrNull(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch {
    return null;
  }
}
