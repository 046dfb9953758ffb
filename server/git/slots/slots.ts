// Prepares a slot for its next user: creates it if missing, repairs it if damaged, and empties it
// without losing a former user's work.

import { ignoreRules } from '../ask/ignore-rules.ts';
import { dirname, join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, refuse } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { isSha } from '../sha.ts';
import type { PathBytes } from '../../files/path-bytes.ts';
import { relink } from '../keep/own-worktree.ts';
import { branchName, branchRef, isBranchName, readRef } from '../refs/refs.ts';
import { noteShared } from '../keep/shared-leavings.ts';
import { freeBranch } from './slot-branch.ts';
import { createSlot } from './slot-creation.ts';
import { isRefusal, removeUnhidden } from './slot-clearing.ts';
import { emptySlot, type EmptiedSlot } from './slot-emptying.ts';
import { dropPlanted } from './planted-files.ts';
import { isGateSlot, isNewUser, labelOfSlot, markUse } from './slot-marks.ts';
import { restoreConfig } from './slot-config.ts';
import { adjustSparse } from './sparse.ts';
import { forgetMissing, retire } from '../keep/worktree-metadata.ts';
import { readWorktreeHead } from '../refs/worktree-heads.ts';
import { slotNotes } from '../refs/slot-notes.ts';
import { exists } from '../../files/small-files.ts';
import {
  canonicalPath,
  findWorktree,
  writeMetadata,
  type LinkedWorktree,
} from '../refs/worktree-link.ts';
import type { SlotOutcome, SlotRequest } from '../slot-port.ts';

export async function prepareSlot(
  context: RepositoryContext,
  request: SlotRequest,
): Promise<GitResult<SlotOutcome>> {
  const path = canonicalPath(request.path);
  if (path === context.root) {
    return refuse('failed', `${path} is the checkout of the user and cannot be a slot.`);
  }
  if (!isSha(request.sha)) {
    return refuse('unknown_ref', `"${request.sha}" must be a full commit id.`);
  }
  if (request.branch !== null && !isBranchName(request.branch)) {
    return refuse('failed', `"${request.branch}" cannot be the name of a branch.`);
  }
  context.trash.sweep(dirname(path));
  if (request.use === 'task' && request.branch !== null) noteShared(context, path);
  return context.inTurn(`slot ${path}`, () => prepareAt(context, { ...request, path }));
}

/** How often a switch is retried if files were written after the check. */
const refusalsMax = 4;

async function prepareAt(
  context: RepositoryContext,
  request: SlotRequest,
): Promise<GitResult<SlotOutcome>> {
  const found = findWorktree(context, request.path);
  switch (found.kind) {
    case 'linked':
      return reuse(context, request, found.worktree);
    case 'unlinked': {
      context.cones.delete(request.path);
      return reuse(context, request, await relink(found.worktree));
    }
    case 'orphaned':
      await writeMetadata(found.worktree, request.sha);
      context.cones.delete(request.path);
      return reuse(context, request, found.worktree);
    case 'missing': {
      const forgotten = await forgetMissing(context, found.worktree);
      if (!forgotten.ok) return forgotten;
      return createSlot(context, request, forgotten.value);
    }
    case 'foreign':
      return refuse(
        'foreign',
        `${request.path} holds something that is not a worktree of this repository: move it away, or set another worktree_root.`,
      );
    case 'absent':
      return createSlot(context, request, null);
  }
}

async function reuse(
  context: RepositoryContext,
  request: SlotRequest,
  worktree: LinkedWorktree,
): Promise<GitResult<SlotOutcome>> {
  if (await standsReady(context, request, worktree)) {
    await markUse(worktree, request);
    return ok({ created: false, keptRef: null });
  }
  await restoreConfig(context, worktree);
  const label = labelOfSlot(worktree);
  const refs: (string | null)[] = [];
  let isRefused = false;
  for (let round = 1; ; round += 1) {
    const emptied: GitResult<EmptiedSlot> = isGateSlot(worktree)
      ? ok({ kind: 'unread' })
      : await emptySlot(context, worktree, label, request.sha);
    if (!emptied.ok) return emptied;
    if (emptied.value.kind !== 'unread') refs.push(emptied.value.keptRef);
    const keptRef = refs.find((ref) => ref !== null) ?? null;
    if (emptied.value.kind === 'unsaved') return replaceSlot(context, request, worktree, keptRef);
    const left = await dropLeft(context, request, worktree, emptied.value);
    if (!left.ok) return left;
    // No file of a user is in git's way: only ignored files, or files that git itself created.
    const hasNothing =
      refs.at(-1) === null || (emptied.value.kind === 'emptied' && emptied.value.isRemade);
    const isForced = emptied.value.kind === 'unread' || (isRefused && hasNothing);
    const switched = await switchSlot(context, request, worktree, {
      ignored: emptied.value.kind === 'unread' ? null : emptied.value.ignored,
      isForced,
    });
    if (switched.ok && switched.value === 'refused' && round < refusalsMax) {
      isRefused = true;
      continue;
    }
    if (!switched.ok && !mayBeDamage(switched.error)) return switched;
    if (!switched.ok) {
      // Everything in it has been kept, so a worktree that git cannot switch is replaced.
      const retired = await retire(context, worktree, 'delete');
      return retired.ok ? createSlot(context, request, keptRef) : retired;
    }
    if (switched.value === 'refused') return replaceSlot(context, request, worktree, keptRef);
    await markUse(worktree, request);
    return ok({ created: false, keptRef });
  }
}

/** Removes ignored files that the former user wrote. */
function dropLeft(
  context: RepositoryContext,
  request: SlotRequest,
  worktree: LinkedWorktree,
  emptied: EmptiedSlot,
): Promise<GitResult<void>> {
  const isLeft = emptied.kind === 'emptied' && isNewUser(worktree, request);
  const ignored = isLeft ? emptied.ignored : [];
  return dropPlanted(context, worktree, labelOfSlot(worktree), ignored);
}

/** Moves a slot that cannot be emptied aside, with everything in it. */
async function replaceSlot(
  context: RepositoryContext,
  request: SlotRequest,
  worktree: LinkedWorktree,
  keptRef: string | null,
): Promise<GitResult<SlotOutcome>> {
  const retired = await retire(context, worktree, 'keep');
  return retired.ok ? createSlot(context, request, keptRef) : retired;
}

/**
 * Whether the attempt continues in its slot, with the same branch and its own uncommitted files.
 */
async function standsReady(
  context: RepositoryContext,
  request: SlotRequest,
  worktree: LinkedWorktree,
): Promise<boolean> {
  if (!request.keepBranch || request.branch === null) return false;
  const ref = branchRef(request.branch);
  return (
    (await readWorktreeHead(context, worktree)).branch === ref &&
    (await readRef(context, ref)) !== null &&
    exists(join(worktree.gitDir, 'index')) &&
    !exists(join(worktree.gitDir, slotNotes.creation))
  );
}

/** The work in a slot before the switch. */
interface Found {
  /** The ignored files. Null if none of the remaining files is work. */
  readonly ignored: readonly PathBytes[] | null;
}

/** `refused`: files were written since the check, and nothing was touched. */
async function switchSlot(
  context: RepositoryContext,
  request: SlotRequest,
  worktree: LinkedWorktree,
  found: Found & { readonly isForced: boolean },
): Promise<GitResult<'switched' | 'refused'>> {
  const freed = await freeBranch(context, request, worktree.path);
  if (!freed.ok) return freed;
  const sparse = await adjustSparse(context, worktree, request.sparse);
  if (!sparse.ok) return sparse;
  const ignoresBefore = ignoreRules(context).fingerprint(worktree.path);
  const { isForced } = found;
  const how = isForced ? ['-q', '--discard-changes'] : ['-q'];
  const output = await context.git(
    [...context.checkoutSettings, 'switch', ...how, ...(await destination(context, request))],
    { at: worktree.path },
  );
  if (output.code !== 0) {
    if (!isForced && isRefusal(output)) return ok('refused');
    return err(failureOf(output, `prepare ${worktree.path}`));
  }
  const hasNewRules = ignoreRules(context).changedSince(worktree.path, ignoresBefore);
  const cleaned = await cleanSlot(context, request, worktree, { ...found, hasNewRules });
  return cleaned.ok ? ok('switched') : cleaned;
}

async function cleanSlot(
  context: RepositoryContext,
  { dropIgnored }: SlotRequest,
  worktree: LinkedWorktree,
  found: Found & { readonly hasNewRules: boolean },
): Promise<GitResult<void>> {
  const kinds = dropIgnored ? [found.ignored === null ? '-x' : '-X'] : [];
  if (found.ignored === null || dropIgnored) {
    const cleaned = await context.git(['clean', '-ffdq', ...kinds], { at: worktree.path });
    if (cleaned.code !== 0) return err(failureOf(cleaned, `clean ${worktree.path}`));
  }
  if (found.ignored === null || !found.hasNewRules) return ok(undefined);
  return removeUnhidden(context, worktree, found.ignored);
}

async function destination(
  context: RepositoryContext,
  request: SlotRequest,
): Promise<readonly string[]> {
  if (request.branch === null) return ['--detach', request.sha];
  const name = branchName(request.branch);
  const keep = request.keepBranch && (await readRef(context, branchRef(name))) !== null;
  return keep ? ['--no-guess', name] : ['--no-track', '-C', name, request.sha];
}

function mayBeDamage(failure: { readonly kind: string; readonly retryable: boolean }): boolean {
  return failure.kind === 'failed' && !failure.retryable;
}
