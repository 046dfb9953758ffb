// Removes exactly a snapshot's content from a slot. Git compares each file's times with those when
// the snapshot read it, and refuses to touch a file that was written since.

import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { absoluteBytes, type PathBytes, splitZero } from '../../files/path-bytes.ts';
import { stampOfIndex, type LinkedWorktree } from '../refs/worktree-link.ts';
import type { GitResult } from '../port.ts';
import type { Sha } from '../sha.ts';
import { failureOf } from '../failures.ts';
import { dropIndex, type HeldIndex } from '../keep/snapshot.ts';
import type { GitOutput } from '../git-command.ts';

/** `changed`: files were written since the snapshot and are still in the slot. */
export type Cleared = 'cleared' | 'changed';

/** Moves a slot from a snapshot's state to a commit's. Uses up the held index. */
export async function removeSnapshotContent(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  held: HeldIndex,
  onto: Sha,
): Promise<GitResult<Cleared>> {
  try {
    if (stampOfIndex(worktree) !== held.ownIndex) return ok('changed');
    const output = await context.git(
      [...context.checkoutSettings, 'read-tree', '-m', '-u', held.tree, onto],
      { at: worktree.path, env: { GIT_INDEX_FILE: held.file } },
    );
    if (output.code !== 0) {
      if (isRefusal(output)) return ok('changed');
      return err(failureOf(output, `empty ${worktree.path}`));
    }
    // The index may contain staged content that no file has.
    if (stampOfIndex(worktree) !== held.ownIndex) return ok('changed');
    await rename(held.file, join(worktree.gitDir, 'index'));
    return ok('cleared');
  } finally {
    await dropIndex(held);
  }
}

/** Git found a file that it would have overwritten, and touched nothing. */
export function isRefusal({ problem, stderr }: GitOutput): boolean {
  return (
    problem === null &&
    /not uptodate|would be (?:overwritten|removed) by|would lose untracked|commit your changes or stash/i.test(
      stderr,
    )
  );
}

/**
 * Removes files that only the former commit's rules ignored, because they would appear as the next
 * task's work.
 */
export async function removeUnhidden(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  ignoredBefore: readonly PathBytes[],
): Promise<GitResult<void>> {
  if (ignoredBefore.length === 0) return ok(undefined);
  const args = ['ls-files', '--others', '--exclude-standard', '-z'];
  const output = await context.git(args, { at: worktree.path });
  if (output.code !== 0) return err(failureOf(output, `list the files of ${worktree.path}`));
  const files = new Set(ignoredBefore);
  const folders = ignoredBefore.filter((path) => path.endsWith('/'));
  for (const path of splitZero(output.stdout)) {
    if (!files.has(path) && !folders.some((folder) => path.startsWith(folder))) continue;
    await rm(absoluteBytes(worktree.path, path), { recursive: true, force: true });
  }
  return ok(undefined);
}
