// The folder in which objects of a confined program are packed.

import { basename, join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';

/**
 * Where the objects of a confined program are packed. Not in the worktree's private folder, where
 * the program could put links.
 */
export function scratchOf(
  context: Pick<RepositoryContext, 'commonDir'>,
  { gitDir }: LinkedWorktree,
): string {
  return join(context.commonDir, 'drover-import', basename(gitDir));
}
