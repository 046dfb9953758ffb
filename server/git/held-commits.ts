// Files that must never be committed, but that an agent has committed itself.

import { ok } from '../core/failure.ts';
import type { RepositoryContext } from './context.ts';
import { isHeldFileName } from './held-files.ts';
import { isIgnoreFile } from './ignore-rules.ts';
import { shown } from './paths.ts';
import type { GitResult, Sha } from './port.ts';
import { factsOfAll } from './small-files.ts';
import { unpublishedGitlinks } from './submodule-work.ts';
import { pathsOfRange } from './without-held.ts';
import type { LinkedWorktree } from './worktree-link.ts';

export interface CommittedRange {
  readonly base: Sha;
  readonly head: Sha;
  readonly maxFileSize: number;
}

/** Added or changed by any commit between base and head: what is removed again stays in the history. Sizes are taken from the worktree, which saves a process. */
export async function heldInCommits(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  range: CommittedRange,
): Promise<GitResult<readonly string[]>> {
  const listed = await pathsOfRange(context, range.base, range.head);
  if (!listed.ok) return listed;
  const paths = listed.value;
  if (paths.some(isIgnoreFile)) context.ignores.touched();
  const facts = await factsOfAll(worktree.path, paths);
  const held = facts.filter(
    ({ path, stats }) =>
      isHeldFileName(shown(path)) || (stats?.isFile() === true && stats.size > range.maxFileSize),
  );
  // A submodule is a folder, or nothing, where the agent has left it.
  const folders = facts.filter(({ stats }) => stats === null || stats.isDirectory());
  const links = folders.map(({ path }) => path);
  const unpublished = await unpublishedGitlinks(context, worktree, range.head, links);
  if (!unpublished.ok) return unpublished;
  return ok([...held.map(({ path }) => path), ...unpublished.value].map(shown));
}
