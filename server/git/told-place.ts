// Tells git where the repository of a worktree is, from our own books: git never looks for one in a folder that an agent writes.

import type { RepositoryContext } from './context.ts';
import { canonicalPath, linkedWorktrees } from './worktree-link.ts';

/** Variables that name repository, worktree and shared folder, so that neither a `.git` in the folder nor one above it counts. */
export interface ToldPlace {
  readonly gitDir: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Of the user's own checkout: nothing is told, git finds it as for the user. Null: the folder is in no book of ours, so no
 * git is started there.
 */
export function toldPlace(
  place: Pick<RepositoryContext, 'commonDir' | 'root'>,
  at: string | undefined,
): ToldPlace | null {
  if (at === undefined || at === place.root) return { gitDir: place.commonDir, variables: {} };
  const path = canonicalPath(at);
  if (path === place.root) return { gitDir: place.commonDir, variables: {} };
  const entry = linkedWorktrees(place).find((one) => one.path === path);
  if (entry === undefined) return null;
  return {
    gitDir: entry.gitDir,
    variables: {
      GIT_DIR: entry.gitDir,
      GIT_WORK_TREE: path,
      GIT_COMMON_DIR: place.commonDir,
    },
  };
}
