// The number of files in a folder, and their bytes.

import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Maximum number of files to read; the size is then reported as "at least". */
const filesMax = 200_000;

/** Files that are removed in the meantime or unreadable do not count. */
export async function folderSize(
  folder: string,
): Promise<{ readonly count: number; readonly bytes: number }> {
  let bytes = 0;
  let count = 0;
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && count < filesMax; next = folders.pop()) {
    try {
      for await (const entry of await opendir(next)) {
        const path = join(next, entry.name);
        if (entry.isDirectory()) folders.push(path);
        else {
          count += 1;
          bytes += (await lstat(path)).size;
        }
      }
    } catch {
      // The size counts only visible files.
    }
  }
  return { count, bytes };
}
