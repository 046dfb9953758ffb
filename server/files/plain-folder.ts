// Cleans folders that a confined program could write to: only regular files and folders remain, so
// that neither git nor Drover follows a link out of them or waits for a pipe.

import { randomUUID } from 'node:crypto';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';

/** Git itself creates about ten levels. A path that is too long could no longer be removed. */
const depthMax = 40;

/** The folder itself must be a real one. */
export async function keepPlainFiles(folder: string, depth = 0): Promise<void> {
  const names = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  for (const entry of names) {
    if (entry.isFile()) continue;
    const path = Buffer.concat([Buffer.from(`${folder}/`), entry.name]);
    const name = path.toString('utf8');
    const isWalked = entry.isDirectory() && depth < depthMax && Buffer.from(name).equals(path);
    if (isWalked) await keepPlainFiles(name, depth + 1);
    else await rm(path, { recursive: true, force: true });
  }
}

/** Writes the file completely, and never through a link in its place. */
export async function writePlain(file: string, text: string): Promise<void> {
  const fresh = `${file}.${randomUUID()}`;
  await writeFile(fresh, text, { flag: 'wx' });
  await rename(fresh, file);
}
