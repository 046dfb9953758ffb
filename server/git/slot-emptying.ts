// Examines a slot of which nothing is known (a dead run, a failed task) and keeps whatever a former user left in it.

import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { err, ok } from '../core/failure.ts';
import type { RepositoryContext } from './context.ts';
import { failureOf } from './failures.ts';
import { dropUnfinished, keepAutostashes } from './leftover-operations.ts';
import { flattenNested } from './nested.ts';
import type { GitResult, Sha } from './port.ts';
import { labelOfBranch, rescueState } from './rescue.ts';
import { readStatus, type StatusOptions } from './status.ts';
import { isNestedRepository, type ParsedStatus } from './status-format.ts';
import { outlastLocks } from './stale-locks.ts';
import { headOf } from './worktree-heads.ts';
import { exists, namesIn } from './small-files.ts';
import { type LinkedWorktree } from './worktree-link.ts';

/** Present while the files of a new worktree are being written: what lies there then is nobody's work. */
export const creationMark = 'drover-creating';

/**
 * `emptied`: nothing can be lost any more; `leftFiles` says whether files have to be cleaned away after the switch.
 * `unsaved`: something could not be kept in a commit, so the folder itself has to be kept.
 */
export type EmptiedSlot =
  | { readonly kind: 'emptied'; readonly rescueRef: string | null; readonly leftFiles: boolean }
  | { readonly kind: 'unsaved'; readonly rescueRef: string | null; readonly reason: string };

const maxNesting = 5;

export async function emptySlot(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  fallbackHead: Sha,
): Promise<GitResult<EmptiedSlot>> {
  await outlastLocks(worktree, context.staleLockMs);
  if (isHalfMade(worktree)) return ok({ kind: 'emptied', rescueRef: null, leftFiles: true });
  const head = await headOf(context, worktree);
  const label = labelOfBranch(head.branch ?? basename(worktree.path));
  const autostashes = await keepAutostashes(context, worktree, label);
  if (!autostashes.ok) return autostashes;
  const status = await readableStatus(context, worktree, label, { fallbackHead });
  if (!status.ok) return status;
  const rescued = await rescueState(context, { worktree, status: status.value, label });
  if (!rescued.ok) {
    if (rescued.error.retryable) return rescued;
    return ok({ kind: 'unsaved', rescueRef: null, reason: rescued.error.message });
  }
  const { ref, skipped } = rescued.value;
  if (skipped.length > 0) {
    return ok({ kind: 'unsaved', rescueRef: ref, reason: `not kept: ${skipped.join(', ')}` });
  }
  await dropUnfinished(worktree);
  return ok({ kind: 'emptied', rescueRef: ref, leftFiles: status.value.entries.length > 0 });
}

function isHalfMade(worktree: LinkedWorktree): boolean {
  if (exists(join(worktree.gitDir, creationMark))) return true;
  if (exists(join(worktree.gitDir, 'index'))) return false;
  const names = namesIn(worktree.path);
  return names.every((name) => name === '.git');
}

/**
 * The status of a worktree in whatever state: a lost or broken index and a HEAD that leads nowhere are mended first,
 * and repositories inside it are turned into plain folders, their commits kept.
 */
export async function readableStatus(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  label: string,
  options: StatusOptions & { readonly fallbackHead: Sha | null },
): Promise<GitResult<ParsedStatus>> {
  if (!exists(join(worktree.gitDir, 'index'))) {
    const mended = await mend(context, worktree, options.fallbackHead);
    if (!mended.ok) return mended;
  }
  const status = await flatStatus(context, worktree, label, options);
  if (status.ok || status.error.retryable) return status;
  const mended = await mend(context, worktree, options.fallbackHead);
  return mended.ok ? flatStatus(context, worktree, label, options) : mended;
}

async function mend(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  fallbackHead: Sha | null,
): Promise<GitResult<void>> {
  const at = { at: worktree.path };
  const head = await context.git(['rev-parse', '--verify', '-q', 'HEAD^{commit}'], at);
  if (head.code !== 0 && fallbackHead !== null) {
    const args = ['update-ref', '--no-deref', '-m', 'drover: mend HEAD', 'HEAD', fallbackHead];
    const mended = await context.git(args, at);
    if (mended.code !== 0) return err(failureOf(mended, `mend HEAD of ${worktree.path}`));
  }
  await rm(join(worktree.gitDir, 'index'), { force: true });
  const read = await context.git(['read-tree', 'HEAD'], at);
  return read.code === 0
    ? ok(undefined)
    : err(failureOf(read, `mend the index of ${worktree.path}`));
}

async function flatStatus(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  label: string,
  options: StatusOptions,
): Promise<GitResult<ParsedStatus>> {
  for (let depth = 0; ; depth += 1) {
    const status = await readStatus(context, worktree.path, options);
    if (!status.ok) return status;
    const nested = status.value.entries.filter(isNestedRepository).map((entry) => entry.path);
    if (nested.length === 0 || depth === maxNesting) return status;
    const flat = await flattenNested(context, worktree.path, nested, label);
    if (!flat.ok) return flat;
  }
}
