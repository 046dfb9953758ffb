// Makes a slot ready for its next user: made when missing, mended when damaged, emptied without losing a former user's work.

import { dirname, join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, refuse } from '../process/failures.ts';
import type { GitResult, SlotOutcome, SlotRequest } from '../port.ts';
import { isSha } from '../files/loose-objects.ts';
import { relink } from '../work/own-worktree.ts';
import { branchName, branchRef, isBranchName, readRef } from '../refs/refs.ts';
import { noteSharedConfig } from '../work/shared-leavings.ts';
import { freeBranch } from './slot-branch.ts';
import { createSlot } from './slot-creation.ts';
import { creationMark, emptySlot, type EmptiedSlot } from './slot-emptying.ts';
import { isGateSlot, markUse } from './slot-marks.ts';
import { adjustSparse } from './sparse.ts';
import { forgetMissing, retire } from '../work/worktree-metadata.ts';
import { headOf } from '../refs/worktree-heads.ts';
import { exists } from '../files/small-files.ts';
import {
  canonicalPath,
  findWorktree,
  writeMetadata,
  type LinkedWorktree,
} from '../files/worktree-link.ts';

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
  if (request.use === 'task' && request.branch !== null) noteSharedConfig(context, path);
  return context.inTurn(`slot ${path}`, () => prepareAt(context, { ...request, path }));
}

async function prepareAt(
  context: RepositoryContext,
  request: SlotRequest,
): Promise<GitResult<SlotOutcome>> {
  const found = findWorktree(context, request.path);
  switch (found.kind) {
    case 'linked':
      return reuse(context, request, found.worktree);
    case 'unlinked': {
      const linked = await relink(context, found.worktree);
      if (!linked.ok) return linked;
      context.cones.forget(request.path);
      return reuse(context, request, linked.value);
    }
    case 'orphaned':
      await writeMetadata(found.worktree, request.sha);
      context.cones.forget(request.path);
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
  const emptied: GitResult<EmptiedSlot> = isGateSlot(worktree)
    ? ok({ kind: 'emptied', keptRef: null, leftFiles: true })
    : await emptySlot(context, worktree, request.sha);
  if (!emptied.ok) return emptied;
  if (emptied.value.kind === 'unsaved') {
    const retired = await retire(context, worktree, 'keep');
    return retired.ok ? createSlot(context, request, emptied.value.keptRef) : retired;
  }
  const { keptRef } = emptied.value;
  const switched = await switchSlot(context, request, worktree, emptied.value.leftFiles);
  if (switched.ok) return ok({ created: false, keptRef });
  if (!mayBeDamage(switched.error)) return switched;
  // Everything in it is kept by now, so a worktree that git cannot switch is replaced.
  const retired = await retire(context, worktree, 'delete');
  return retired.ok ? createSlot(context, request, keptRef) : retired;
}

/** The attempt goes on where it was: same branch, and whatever lies uncommitted is its own. */
async function standsReady(
  context: RepositoryContext,
  request: SlotRequest,
  worktree: LinkedWorktree,
): Promise<boolean> {
  if (!request.keepBranch || request.branch === null) return false;
  const ref = branchRef(request.branch);
  return (
    (await headOf(context, worktree)).branch === ref &&
    (await readRef(context, ref)) !== null &&
    exists(join(worktree.gitDir, 'index')) &&
    !exists(join(worktree.gitDir, creationMark))
  );
}

async function switchSlot(
  context: RepositoryContext,
  request: SlotRequest,
  worktree: LinkedWorktree,
  leftFiles: boolean,
): Promise<GitResult<void>> {
  const freed = await freeBranch(context, request, worktree.path);
  if (!freed.ok) return freed;
  const sparse = await adjustSparse(context, worktree, request.sparse);
  if (!sparse.ok) return sparse;
  const ignoresBefore = context.ignores.fingerprint(worktree.path);
  const output = await context.git(
    [
      ...context.checkoutSettings,
      'switch',
      '-q',
      '--discard-changes',
      ...(await destination(context, request)),
    ],
    { at: worktree.path },
  );
  if (output.code !== 0) return err(failureOf(output, `prepare ${worktree.path}`));
  // Files that the former commit's `.gitignore` hid would show up as the next task's work.
  const ignoresChanged = context.ignores.changedSince(worktree.path, ignoresBefore);
  if (leftFiles || request.dropIgnored || ignoresChanged) {
    const cleaned = await context.git(['clean', '-ffdq', ...(request.dropIgnored ? ['-x'] : [])], {
      at: worktree.path,
    });
    if (cleaned.code !== 0) return err(failureOf(cleaned, `clean ${worktree.path}`));
  }
  await markUse(worktree, request);
  return ok(undefined);
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
