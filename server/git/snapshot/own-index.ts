// Where an index of Drover's own is while git fills it: in the shared git folder, and not in the
// worktree's private one, where a confined program could put a link in its place.

import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MadeOnce } from '../../core/made-once.ts';
import type { RepositoryContext } from '../context.ts';
import type { LinkedWorktree } from '../files/worktree-link.ts';

const folderName = 'drover-index';
/** Of a process that died; no git takes that long. */
const oldMs = 24 * 60 * 60_000;

const swept = new MadeOnce<RepositoryContext, Promise<void>>();

/** A name that no file has yet. */
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
