// Removes one worktree from git's records. Never uses `git worktree prune`, which removes entries
// that are being created.

import { dropEntry } from '../refs/half-made-worktrees.ts';
import { copyFile, mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { gitFailure } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { readRef } from '../refs/refs.ts';
import { appendSnapshot, keepCommit, labelOfBranch } from './work-chain.ts';
import { readWorktreeHead } from '../refs/worktree-heads.ts';
import { exists } from '../../files/small-files.ts';
import { type LinkedWorktree } from '../refs/worktree-link.ts';
import { isSha, type Sha } from '../sha.ts';

/** Removes the private folder. The commits and files that it references must be kept first. */
export async function dropMetadata(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<void> {
  await context.exclusively(() => dropEntry(context, worktree));
}

/**
 * For a worktree whose folder was deleted: keeps its detached HEAD and its staged files, then
 * removes its entry. Returns the ref that keeps them, or null if it had none.
 */
export async function forgetMissing(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<GitResult<string | null>> {
  if (exists(join(worktree.gitDir, 'locked'))) {
    const message = `The worktree ${worktree.path} is locked but its folder does not exist. Unlock it with "git worktree unlock".`;
    // The folder may return, for example on a disk that is mounted later. Until then another slot
    // is used.
    return { ok: false, error: gitFailure('foreign', message) };
  }
  const { branch, detachedAt } = await readWorktreeHead(context, worktree);
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

/**
 * Makes a separate commit of the remaining index if it differs from HEAD. An unreadable index
 * contains nothing.
 */
async function keepStaged(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  head: Sha,
  label: string,
): Promise<GitResult<string | null>> {
  const ownIndex = join(worktree.gitDir, 'index');
  if (!exists(ownIndex)) return ok(null);
  const index = join(worktree.gitDir, 'drover-staged.index');
  await copyFile(ownIndex, index);
  const env = { GIT_INDEX_FILE: index };
  const tree = await context.git(['write-tree'], { env });
  const treeSha = tree.stdout.toString('utf8').trim();
  if (tree.code !== 0 || !isSha(treeSha)) return ok(null);
  const same = await context.git(['diff-tree', '--quiet', `${head}^{tree}`, treeSha]);
  if (same.code === 0) return ok(null);
  const state = { tree: treeSha, head, branch: null, indexTree: treeSha };
  const kept = await appendSnapshot(context, state, {
    label,
    reason: 'found',
    author: 'unknown',
    worktree: worktree.path,
    skipped: [],
    alongside: [],
  });
  return kept.ok ? ok(kept.value.ref) : kept;
}

/** Retires a slot. `delete`: everything in it has been kept. `keep`: its files stay beside it. */
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
    // The history of submodules is in the worktree's private folder.
    const modules = join(worktree.gitDir, 'modules');
    if (exists(modules)) await rename(modules, join(folder, 'modules'));
  }
  await dropMetadata(context, worktree);
  return ok(undefined);
}
