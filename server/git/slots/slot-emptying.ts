// Checks a slot in an unknown state (after a dead run or a failed task) and keeps whatever a former
// user left in it.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import { isAncestor } from '../ask/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../failures.ts';
import { dropUnfinished } from '../keep/leftover-operations.ts';
import { isIgnoreFile } from '../ask/ignore-rules.ts';
import { isReproducible } from '../keep/ignored-files.ts';
import { unwatchedEntries } from '../ask/unwatched.ts';
import { flattenNested } from '../nested/nested.ts';
import { absoluteBytes, type PathBytes, zeroEnded } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { removeSnapshotContent } from './slot-clearing.ts';
import { dropIndex, type HeldIndex, isDirty, keepState } from '../keep/snapshot.ts';
import { type StatusOptions } from '../ask/status.ts';
import { keepDropped } from '../keep/dropped-commits.ts';
import { slotStatus } from '../keep/setup-note.ts';
import { isNestedRepository, type ParsedStatus, type StatusEntry } from '../ask/status-format.ts';
import { waitForStaleLocks } from '../refs/stale-locks.ts';
import { emptySubmodules, keepSubmodules, type KeptSubmodules } from '../nested/submodule-work.ts';
import { keepCommit } from '../keep/work-chain.ts';
import { unfinishedOperation } from '../refs/worktree-heads.ts';
import { slotNotes } from '../refs/slot-notes.ts';
import { exists, listNames, readText } from '../../files/small-files.ts';
import { type LinkedWorktree } from '../refs/worktree-link.ts';
import type { Sha } from '../sha.ts';

/**
 * `emptied`: a check found only HEAD's commit and the `ignored` files; with `isRemade`, also files
 * that git reports as changed right after writing them. `unread`: it contains no files of a user.
 * `unsaved`: some content could not be committed or removed, so the folder itself must be kept.
 */
export type EmptiedSlot =
  | {
      readonly kind: 'emptied';
      readonly keptRef: string | null;
      readonly ignored: readonly PathBytes[];
      readonly isRemade: boolean;
    }
  | { readonly kind: 'unread' }
  | { readonly kind: 'unsaved'; readonly keptRef: string | null; readonly reason: string };

const maxNesting = 5;

/** How often files written in the meantime are also saved, before the folder itself is kept. */
const roundsMax = 4;

export async function emptySlot(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  label: string,
  fallbackHead: Sha,
): Promise<GitResult<EmptiedSlot>> {
  await waitForStaleLocks(worktree, context.staleLockMs);
  if (await isNobodys(context, worktree, label, fallbackHead)) return ok({ kind: 'unread' });
  let keptRef: string | null = null;
  // Files that appear once others are moved are saved beside the state that was found, not as a
  // later state.
  let as = label;
  let clearedTree: Sha | null = null;
  const unsaved = (reason: string): GitResult<EmptiedSlot> =>
    ok({ kind: 'unsaved', keptRef, reason });
  for (let round = 1; round <= roundsMax; round += 1) {
    const watched = await watchEverything(context, worktree);
    if (!watched.ok) return watched;
    const status = await visibleStatus(context, worktree, as, fallbackHead);
    if (!status.ok) return status;
    if (as === label) {
      const dropped = await keepDropped(context, worktree, status.value.head, label);
      if (!dropped.ok) return dropped;
    }
    const about = { label: as, next: fallbackHead, holdIndex: true };
    const kept = await keepFound(context, worktree, status.value, about);
    if (!kept.ok) return kept.error.retryable ? kept : unsaved(kept.error.message);
    const { ref, skipped, submodules, index } = kept.value;
    keptRef ??= ref;
    if (skipped.length > 0) {
      if (index !== null) await dropIndex(index);
      return unsaved(`not kept: ${skipped.join(', ')}`);
    }
    await dropUnfinished(worktree);
    const without = await emptySubmodules(context, worktree, submodules, fallbackHead);
    if (!without.ok) return without;
    const isRemade = index !== null && index.tree === clearedTree && isOnlyTracked(status.value);
    if (!isDirty(status.value) || isRemade) {
      if (index !== null) await dropIndex(index);
      const ignored = status.value.entries.filter(({ kind }) => kind === 'ignored');
      return ok({ kind: 'emptied', keptRef, ignored: ignored.map(({ path }) => path), isRemade });
    }
    if (index === null) continue;
    const onto = status.value.head ?? fallbackHead;
    const cleared = await removeSnapshotContent(context, worktree, index, onto);
    if (!cleared.ok) return cleared.error.retryable ? cleared : unsaved(cleared.error.message);
    if (cleared.value === 'changed') continue;
    clearedTree = index.tree;
    as = `${label}/late`;
    if (status.value.head === null) {
      const detached = await standOn(context, worktree, fallbackHead);
      if (!detached.ok) return detached;
    }
  }
  return unsaved('a program keeps writing there');
}

/**
 * True if git's own checkout can have caused all changes: text files committed with other line
 * endings than their attributes require, or names that differ only in case. A file that git could
 * not remove is untracked after the cleanup, so it never counts.
 */
function isOnlyTracked(status: ParsedStatus): boolean {
  return status.entries.every(
    ({ kind, index }) => kind === 'ignored' || (kind === 'changed' && index === '.'),
  );
}

/**
 * An agent may have told git to ignore some files, so that its changes to them would stay for the
 * next task.
 */
export async function watchEverything(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<GitResult<void>> {
  // A sparse slot marks files outside of its cone in the same way.
  if (/sparsecheckout\s*=\s*true/i.test(readText(join(worktree.gitDir, 'config.worktree')) ?? '')) {
    return ok(undefined);
  }
  const unwatched = (await unwatchedEntries(context, { at: worktree.path })) ?? [];
  if (unwatched.length === 0) return ok(undefined);
  for (const flag of ['--no-assume-unchanged', '--no-skip-worktree']) {
    const output = await context.git(['update-index', flag, '-z', '--stdin'], {
      at: worktree.path,
      input: zeroEnded(unwatched),
    });
    if (output.code !== 0) return err(failureOf(output, `read the state of ${worktree.path}`));
  }
  return ok(undefined);
}

/**
 * The status including files that would be visible at the base. An ignore file that hides itself,
 * and whatever it hid, counts as work of the slot's last user and must not hide the next user's
 * work.
 */
async function visibleStatus(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  label: string,
  fallbackHead: Sha,
): Promise<GitResult<ParsedStatus>> {
  for (let depth = 0; ; depth += 1) {
    const options = { fallbackHead, ignored: true };
    const status = await readableStatus(context, worktree, label, options);
    if (!status.ok || depth === maxNesting) return status;
    const hiding = status.value.entries.filter(hidesItself).map((entry) => entry.path);
    if (hiding.length === 0) return status;
    const kept = await keepFound(context, worktree, status.value, {
      label,
      next: null,
      ignored: hiding,
    });
    if (!kept.ok) return kept;
    for (const path of hiding) {
      await rm(absoluteBytes(worktree.path, path), { recursive: true, force: true });
    }
  }
}

/** Folders of package managers and caches also hide themselves; they contain no work. */
function hidesItself({ kind, path }: StatusEntry): boolean {
  return kind === 'ignored' && isIgnoreFile(path) && !isReproducible(path);
}

export interface Found {
  /** Null if refs already contain all of it. */
  readonly ref: string | null;
  readonly skipped: readonly string[];
  readonly submodules: KeptSubmodules;
  readonly index: HeldIndex | null;
}

/**
 * Keeps the work found in a slot that its last user has left. `next`: the commit that the slot gets
 * next.
 */
export async function keepFound(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  status: ParsedStatus,
  about: {
    readonly label: string;
    readonly next: Sha | null;
    readonly ignored?: readonly string[];
    readonly holdIndex?: boolean;
  },
): Promise<GitResult<Found>> {
  const { label, next, ignored = [], holdIndex = false } = about;
  const inside = await keepSubmodules(context, worktree, label);
  if (!inside.ok) return inside;
  const submodules = inside.value;
  const isUnfinished = unfinishedOperation(worktree.gitDir) !== null;
  if (!isDirty(status) && ignored.length === 0 && !isUnfinished) {
    const { head } = status;
    const isHeld =
      status.branch !== null ||
      head === null ||
      (next !== null && (await isAncestor(context, head, next)));
    if (isHeld) return ok({ ref: null, skipped: [], submodules, index: null });
    const kept = await keepCommit(context, head, label);
    return kept.ok ? ok({ ref: kept.value, skipped: [], submodules, index: null }) : kept;
  }
  const kept = await keepState(context, {
    worktree,
    status,
    label,
    reason: 'found',
    author: 'unknown',
    ignored,
    holdIndex,
  });
  if (!kept.ok) return kept;
  const { snapshot, skipped, index } = kept.value;
  return ok({ ref: snapshot.ref, skipped, submodules, index });
}

/**
 * True if filling a new worktree was interrupted and it contains only files that git wrote.
 * Otherwise a person may have used the folder since.
 */
async function isNobodys(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  label: string,
  fallbackHead: Sha,
): Promise<boolean> {
  if (!exists(join(worktree.gitDir, slotNotes.creation))) {
    if (exists(join(worktree.gitDir, 'index'))) return false;
    return listNames(worktree.path).every((name) => name === '.git');
  }
  const options = { fallbackHead, ignored: true };
  const status = await readableStatus(context, worktree, label, options);
  if (!status.ok || status.value.unreadable.length > 0) return false;
  return status.value.entries.every(isMissing);
}

function isMissing({ kind, index, worktree }: StatusEntry): boolean {
  return kind === 'changed' && index === '.' && worktree === 'D';
}

/**
 * The status of a worktree in any state. A lost or broken index and a broken HEAD are repaired
 * first, and repositories inside it are turned into plain folders after keeping their commits.
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
    const mended = await standOn(context, worktree, fallbackHead);
    if (!mended.ok) return mended;
  }
  await rm(join(worktree.gitDir, 'index'), { force: true });
  const read = await context.git(['read-tree', 'HEAD'], at);
  return read.code === 0
    ? ok(undefined)
    : err(failureOf(read, `repair the index of ${worktree.path}`));
}

async function standOn(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  sha: Sha,
): Promise<GitResult<void>> {
  const args = ['update-ref', '--no-deref', '-m', 'drover: mend HEAD', 'HEAD', sha];
  const mended = await context.git(args, { at: worktree.path });
  return mended.code === 0
    ? ok(undefined)
    : err(failureOf(mended, `mend HEAD of ${worktree.path}`));
}

async function flatStatus(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  label: string,
  options: StatusOptions,
): Promise<GitResult<ParsedStatus>> {
  for (let depth = 0; ; depth += 1) {
    const status = await slotStatus(context, worktree, options);
    if (!status.ok) return status;
    const nested = status.value.entries.filter(isNestedRepository).map((entry) => entry.path);
    if (nested.length === 0 || depth === maxNesting) return status;
    const flat = await flattenNested(context, worktree.path, nested, label);
    if (!flat.ok) return flat;
  }
}
