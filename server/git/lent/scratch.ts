// The folder in which a confined program's objects are packed.

import { basename, join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';

/**
 * Returns the folder for packed objects. It is not in the worktree's private folder, where the
 * program could create links.
 */
export function scratchFolder(
  context: Pick<RepositoryContext, 'commonDir'>,
  { gitDir }: LinkedWorktree,
): string {
  return join(context.commonDir, 'drover-import', basename(gitDir));
}
