// Handles the remains of a killed `git worktree add`: an entry whose HEAD names no commit. While
// one exists, git fetches nothing and collects no garbage in the whole clone ("bad object
// worktrees/slot-1/HEAD"). Only `remove --force --force` removes it.

import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { lstatOrNull, listNames, readText } from '../../files/small-files.ts';
import { linkedWorktrees, type LinkedWorktree } from './worktree-link.ts';

const noCommit = /^0{40,64}\s*$/;

/**
 * Removes such entries from git's records. Returns true if it removed any. Nothing is lost, because
 * the entry never had a commit, and an entry whose folder contains a file is left alone. An entry
 * that is being created is younger than `staleLockMs`, or its creation is waited for.
 */
export async function dropHalfMade(context: RepositoryContext): Promise<boolean> {
  return await context.exclusively(async () => {
    const halfMade = linkedWorktrees(context).filter((each) => isHalfMade(context, each));
    for (const worktree of halfMade) {
      await dropEntry(context, worktree);
      await rm(join(worktree.path, '.git'), { force: true });
      await rmdir(worktree.path).catch(() => undefined);
    }
    return halfMade.length > 0;
  });
}

function isHalfMade({ staleLockMs }: RepositoryContext, worktree: LinkedWorktree): boolean {
  const head = join(worktree.gitDir, 'HEAD');
  const facts = lstatOrNull(head);
  if (facts === null || !noCommit.test(readText(head) ?? '')) return false;
  const isOld = Date.now() - facts.mtimeMs >= staleLockMs;
  return isOld && listNames(worktree.path).every((name) => name === '.git');
}

/** Removes a worktree from git's records, to which the caller has exclusive access. */
export async function dropEntry(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<void> {
  await rm(worktree.gitDir, { recursive: true, force: true });
  const adminRoot = join(context.commonDir, 'worktrees');
  if ((await readdir(adminRoot).catch(() => ['unknown'])).length === 0) {
    await rmdir(adminRoot).catch(() => undefined);
  }
  context.cones.delete(worktree.path);
}
