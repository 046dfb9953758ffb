// The folder in which objects of a confined program are packed.

import { basename, join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';

/**
 * The place for the packed objects of a confined program. Not in the worktree's private folder, in
 * which the program could put links.
 */
export function scratchFolder(
  context: Pick<RepositoryContext, 'commonDir'>,
  { gitDir }: LinkedWorktree,
): string {
  return join(context.commonDir, 'drover-import', basename(gitDir));
}
