// Files that other programs also read and write: written completely or not at all, and never over
// an unread change.

import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Refusal } from '../core/failure.ts';

/** The file's text; null if it does not exist. */
export async function readPresent(path: string): Promise<string | null> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal('file', `${path} cannot be read: ${reason}.`);
  }
}

/**
 * Readers never see a half-written file, and a full disk leaves the old one unchanged. If
 * `expected` is given, the old text is checked again before it is replaced. Returns false if it has
 * changed.
 */
export async function writeWhole(
  path: string,
  text: string,
  expected: string | null,
): Promise<boolean> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx' });
    const hasChanged = expected !== null && (await readPresent(path)) !== expected;
    if (hasChanged) await rm(temporary);
    else await rename(temporary, path);
    return !hasChanged;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal('file', `${path} cannot be written: ${reason}.`);
  }
}
