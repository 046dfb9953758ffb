// Opens a worktree of Drover for work: checks that it is one, and repairs its link to the
// repository if an agent broke it.

import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { refuse } from '../process/failures.ts';
import { keepNestedHistory, setAside } from '../nested/nested.ts';
import type { GitResult } from '../port.ts';
import { factsOf } from '../../files/small-files.ts';
import {
  canonicalPath,
  findWorktree,
  writePointer,
  type LinkedWorktree,
} from '../files/worktree-link.ts';

/** Refuses the user's own checkout: nothing is ever committed, reset or deleted there. */
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
      return relink(context, found.worktree);
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
 * Puts the `.git` file back. A repository that an agent has made in its place is kept by its
 * commits first.
 */
export async function relink(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<GitResult<LinkedWorktree>> {
  const pointer = join(worktree.path, '.git');
  const facts = factsOf(pointer);
  // A file only leads somewhere else, for instance to where the repository was before it was moved.
  if (facts?.isDirectory()) {
    const kept = await keepNestedHistory(context, worktree.path, basename(worktree.path));
    // What can't be kept in a commit is kept as it is: a folder that an agent has broken costs no
    // later task an attempt.
    if (kept.ok) await context.trash.take(pointer, worktree.path);
    else await setAside(pointer, worktree.path);
  }
  // Never written through a link, and never into a pipe.
  else if (facts !== null && !facts.isFile()) await rm(pointer, { force: true });
  await writePointer(worktree);
  return ok(worktree);
}
