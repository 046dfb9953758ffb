// Takes one worktree out of git's books. Never `git worktree prune`: it removes entries that are just being made.

import { copyFile, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ok } from '../core/failure.ts';
import type { RepositoryContext } from './context.ts';
import { gitFailure } from './failures.ts';
import { isSha } from './loose-objects.ts';
import type { GitResult, Sha } from './port.ts';
import { readRef, updateRefs } from './refs.ts';
import { keepCommit, labelOfBranch, rescueRefFor } from './rescue.ts';
import { headOf } from './worktree-heads.ts';
import { exists } from './small-files.ts';
import { type LinkedWorktree } from './worktree-link.ts';

/** Removes the private folder; the commits and files it led to have to be kept before. */
export async function dropMetadata(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<void> {
  await context.exclusively(() => dropEntry(context, worktree));
}

/** The same, for whoever has the books to itself already. */
export async function dropEntry(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<void> {
  await rm(worktree.gitDir, { recursive: true, force: true });
  const adminRoot = join(context.commonDir, 'worktrees');
  if ((await readdir(adminRoot).catch(() => ['unknown'])).length === 0) {
    await rmdir(adminRoot).catch(() => undefined);
  }
  context.slots.forget(worktree.path);
}

/**
 * For a worktree whose folder somebody deleted: a detached HEAD and what was staged are still there and are kept,
 * then its entry goes. Returns the rescue ref, or null when there was nothing.
 */
export async function forgetMissing(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<GitResult<string | null>> {
  if (exists(join(worktree.gitDir, 'locked'))) {
    const message = `The worktree ${worktree.path} is locked but its folder is gone; unlock it with "git worktree unlock".`;
    return { ok: false, error: gitFailure('failed', message) };
  }
  const { branch, detachedAt } = await headOf(context, worktree);
  const label = labelOfBranch(branch ?? basename(worktree.path));
  const head = branch === null ? detachedAt : await readRef(context, branch);
  let ref: string | null = null;
  if (head !== null) {
    const staged = await keepStaged(context, worktree, head, label);
    if (!staged.ok) return staged;
    ref = staged.value;
    if (ref === null && detachedAt !== null) {
      const kept = await keepCommit(context, detachedAt, label);
      if (!kept.ok) return kept;
      ref = kept.value;
    }
  }
  await dropMetadata(context, worktree);
  return ok(ref);
}

/** What is left in the index becomes a commit of its own when it differs from HEAD. An unreadable index holds nothing. */
async function keepStaged(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  head: Sha,
  label: string,
): Promise<GitResult<string | null>> {
  const ownIndex = join(worktree.gitDir, 'index');
  if (!exists(ownIndex)) return ok(null);
  const index = join(worktree.gitDir, 'drover-rescue-staged.index');
  await copyFile(ownIndex, index);
  const env = { GIT_INDEX_FILE: index };
  const tree = await context.git(['write-tree'], { env });
  const treeSha = tree.stdout.toString('utf8').trim();
  if (tree.code !== 0 || !isSha(treeSha)) return ok(null);
  const same = await context.git(['diff-tree', '--quiet', `${head}^{tree}`, treeSha]);
  if (same.code === 0) return ok(null);
  const made = await context.git(['commit-tree', treeSha, '-p', head, '-F', '-'], {
    input: `drover: what was staged in ${worktree.path} when its folder was deleted\n`,
    env: context.identity(),
  });
  const sha = made.stdout.toString('utf8').trim();
  if (made.code !== 0 || !isSha(sha)) return ok(null);
  const ref = rescueRefFor(label, sha);
  const kept = await updateRefs(context, [{ ref, next: sha, old: null }], 'drover: rescue');
  return kept.ok ? ok(ref) : kept;
}

/** Takes a slot out of use: `delete` after everything in it is kept, `keep` leaves its files beside it. */
export async function retire(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  files: 'keep' | 'delete',
): Promise<GitResult<void>> {
  if (files === 'delete') {
    await context.trash.take(worktree.path, worktree.path);
  } else {
    const stamp = new Date()
      .toISOString()
      .replace(/[^0-9]/g, '')
      .slice(0, 14);
    const folder = `${worktree.path}.kept-${stamp}`;
    await mkdir(folder, { recursive: true });
    await rename(worktree.path, join(folder, 'files'));
  }
  await dropMetadata(context, worktree);
  return ok(undefined);
}
