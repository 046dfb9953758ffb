// Tells git the repository of a worktree from Drover's own records, so that git never searches for
// one in a folder that an agent can write to.

import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { lstatOrNull } from '../../files/small-files.ts';
import { canonicalPath, linkedWorktree } from './worktree-link.ts';

/** Folder with a confined program's work, in its worktree's private folder. */
export const lentName = 'drover-git';

/**
 * Variables that name the repository, the worktree and the shared folder, so that no `.git` in the
 * folder or above it counts.
 */
export interface ToldPlace {
  readonly gitDir: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Sets nothing for the user's own checkout, where git finds the repository as it does for the user.
 * Returns null if our records do not contain the folder, so that no git is started there.
 */
export function toldPlace(
  place: Pick<RepositoryContext, 'commonDir' | 'root'>,
  at: string | undefined,
): ToldPlace | null {
  if (at === undefined || at === place.root) return { gitDir: place.commonDir, variables: {} };
  const path = canonicalPath(at);
  if (path === place.root) return { gitDir: place.commonDir, variables: {} };
  const entry = linkedWorktree(place, path);
  if (entry === null) return null;
  return {
    gitDir: entry.gitDir,
    variables: {
      GIT_DIR: entry.gitDir,
      GIT_WORK_TREE: path,
      GIT_COMMON_DIR: place.commonDir,
      ...lentObjects(entry.gitDir),
    },
  };
}

/** The commits of a running confined program are in a separate folder until they are imported. */
function lentObjects(gitDir: string): Readonly<Record<string, string>> {
  const objects = join(gitDir, lentName, 'objects');
  return lstatOrNull(objects)?.isDirectory() === true
    ? { GIT_ALTERNATE_OBJECT_DIRECTORIES: objects }
    : {};
}
