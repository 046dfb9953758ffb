// Opens one of Drover's worktrees for work: checks that it is one, and repairs its link to the
// repository if an agent broke it.

import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { refuse } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { lstatOrNull } from '../../files/small-files.ts';
import {
  canonicalPath,
  findWorktree,
  writePointer,
  type LinkedWorktree,
} from '../refs/worktree-link.ts';

/** Refuses the user's own checkout, in which nothing may be committed, reset or deleted. */
export async function ownWorktree(
  context: RepositoryContext,
  path: string,
): Promise<GitResult<LinkedWorktree>> {
  const canonical = canonicalPath(path);
  if (canonical === context.root) {
    return refuse('failed', `${path} is the checkout of the user; Drover does not work in it.`);
  }
  const found = findWorktree(context, canonical);
  switch (found.kind) {
    case 'linked':
      return ok(found.worktree);
    case 'unlinked':
      return ok(await relink(found.worktree));
    case 'missing':
      return refuse('no_worktree', `The worktree ${path} was deleted.`);
    case 'orphaned':
      return refuse(
        'failed',
        `Git no longer lists the worktree ${path}, but its files still exist.`,
      );
    case 'foreign':
    case 'absent':
      return refuse('failed', `${path} is not a worktree of the repository ${context.root}.`);
  }
}

/**
 * Restores the `.git` file. A repository that an agent created in its place is moved beside the
 * worktree.
 */
export async function relink(worktree: LinkedWorktree): Promise<LinkedWorktree> {
  const pointer = join(worktree.path, '.git');
  const facts = lstatOrNull(pointer);
  // A file only refers to another location, for example the repository's former one.
  if (facts?.isDirectory()) {
    await setAside(pointer, worktree.path);
  }
  // Never writes through a link or into a pipe.
  else if (facts !== null && !facts.isFile()) await rm(pointer, { force: true });
  await writePointer(worktree);
  return worktree;
}

/** Moves a file or folder out of a worktree into a folder beside it that Drover never deletes. */
export async function setAside(path: string, worktree: string): Promise<void> {
  const folder = await mkdtemp(`${worktree}.kept-`);
  await rename(path, join(folder, 'git'));
}
