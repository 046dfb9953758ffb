// Location of Drover's own index while git fills it: in the shared git folder, because a confined
// program could replace it by a link in the worktree's private folder.

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MadeOnce } from '../../core/made-once.ts';
import type { RepositoryContext } from '../context.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';

const folderName = 'drover-index';
/** An older file was left by a process that died, because no git command takes that long. */
const oldMs = 24 * 60 * 60_000;

const swept = new MadeOnce<RepositoryContext, Promise<void>>();

/** Returns the path of a new file. */
export async function ownIndexFile(
  context: RepositoryContext,
  { gitDir }: LinkedWorktree,
): Promise<string> {
  const folder = join(context.commonDir, folderName);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await swept.of(context, () => sweep(folder));
  return join(folder, `${basename(gitDir)}-${randomUUID()}`);
}

async function sweep(folder: string): Promise<void> {
  const now = Date.now();
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const facts = await stat(file).catch(() => null);
    if (facts !== null && now - facts.mtimeMs > oldMs) await rm(file, { force: true });
  }
}

/**
 * Copies an index with its modification time, which git compares with the times of files to find
 * changes within one tick of the clock. A later time would hide such a change; an earlier one only
 * costs more checks. Returns false if it is not a regular file.
 */
export async function copyIndex(from: string, to: string): Promise<boolean> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const opened = await open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  if (opened === null) return false;
  await using handle = opened;
  const facts = await handle.stat();
  if (!facts.isFile()) return false;
  await writeFile(to, await handle.readFile(), { flag: 'wx' });
  await utimes(to, facts.atimeMs / 1000, Math.floor(facts.mtimeMs) / 1000);
  return true;
}
