// Handles pipes that replace files which git opens. An agent may have created one, and git would
// wait for a writer until its time limit.

import { constants } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lstatOrNull } from '../../files/small-files.ts';

/** In any folder of a worktree, and in its private folder. */
const opened: ReadonlySet<string> = new Set(['.gitignore', '.gitattributes']);
const openedInPrivate = ['HEAD', 'index'];

const foldersMax = 200_000;

/** Removes such pipes. A git that waits for one reads an empty file and continues. */
export async function removePipes(worktree: string, gitDir: string): Promise<void> {
  for (const name of openedInPrivate) {
    const file = join(gitDir, name);
    if (lstatOrNull(file)?.isFIFO() === true) await removePipe(file);
  }
  const folders = [worktree];
  for (let count = 0; count < foldersMax; count += 1) {
    const folder = folders.pop();
    if (folder === undefined) return;
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory() && entry.name !== '.git') folders.push(join(folder, entry.name));
      else if (entry.isFIFO() && opened.has(entry.name)) await removePipe(join(folder, entry.name));
    }
  }
}

/** Opening the pipe for writing ends the wait of a reader. */
async function removePipe(file: string): Promise<void> {
  const flags = constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const writer = await open(file, flags).catch(() => null);
  await rm(file, { force: true });
  await writer?.close();
}
