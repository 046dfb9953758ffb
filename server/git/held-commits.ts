// Files that must never be committed, but that an agent has committed itself.

import { ok } from '../core/failure.ts';
import { smallAsStored } from './committed-sizes.ts';
import type { RepositoryContext } from './context.ts';
import { isHeldFileName } from './held-files.ts';
import { isIgnoreFile } from './ignore-rules.ts';
import { type PathBytes, shown } from './paths.ts';
import type { GitResult, Sha } from './port.ts';
import { factsOfAll } from './small-files.ts';
import { unpublishedGitlinks } from './submodule-work.ts';
import { changesOfRange } from './without-held.ts';
import type { LinkedWorktree } from './worktree-link.ts';

export interface CommittedRange {
  readonly base: Sha;
  readonly head: Sha;
  readonly maxFileSize: number;
}

export interface HeldInRange {
  readonly held: readonly string[];
  /** Every path that some commit of the range has added, changed or removed. */
  readonly changed: readonly PathBytes[];
}

/** Added or changed by any commit between base and head: what is removed again stays in the history. Sizes are taken from the worktree, which saves a process. */
export async function heldInCommits(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  range: CommittedRange,
): Promise<GitResult<HeldInRange>> {
  const listed = await changesOfRange(context, range.base, range.head);
  if (!listed.ok) return listed;
  const { present: paths, removed } = listed.value;
  if (paths.some(isIgnoreFile)) context.ignores.touched();
  const facts = await factsOfAll(worktree.path, paths);
  const large = facts
    .filter(({ stats }) => stats?.isFile() === true && stats.size > range.maxFileSize)
    .map(({ path }) => path);
  const pointers = await smallAsStored(context, worktree, large, range.maxFileSize);
  const tooLarge = new Set(large.filter((path) => !pointers.has(path)));
  const held = facts.filter(({ path }) => isHeldFileName(shown(path)) || tooLarge.has(path));
  // A submodule is a folder, or nothing, where the agent has left it.
  const folders = facts.filter(({ stats }) => stats === null || stats.isDirectory());
  const links = folders.map(({ path }) => path);
  const unpublished = await unpublishedGitlinks(context, worktree, range.head, links);
  if (!unpublished.ok) return unpublished;
  const names = [...held.map(({ path }) => path), ...unpublished.value].map(shown);
  return ok({ held: names, changed: [...paths, ...removed] });
}
