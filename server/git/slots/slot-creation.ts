// Creates a worktree: registers it one at a time, because git races there, and fills it outside of
// that lock.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import { isOpenToOthers, openToOthers } from '../../files/open-to-others.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, refuse } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { branchName, branchRef, readRef } from '../refs/refs.ts';
import { freeBranch } from './slot-branch.ts';
import { markUse } from './slot-marks.ts';
import { noteConfig } from './slot-config.ts';
import { adjustSparse } from './sparse.ts';
import { slotNotes } from '../refs/slot-notes.ts';
import { findWorktree, type LinkedWorktree } from '../refs/worktree-link.ts';
import type { GitOutput } from '../git-command.ts';
import type { Sha } from '../sha.ts';
import type { SlotOutcome, SlotRequest } from '../slot-port.ts';

export async function createSlot(
  context: RepositoryContext,
  request: SlotRequest,
  keptRef: string | null,
): Promise<GitResult<SlotOutcome>> {
  context.cones.delete(request.path);
  const added = await context.exclusively(() => register(context, request));
  if (!added.ok) return added;
  const worktree = added.value;
  const sparse = await adjustSparse(context, worktree, request.sparse);
  if (!sparse.ok) return sparse;
  const filled = await fill(context, worktree, request.sha);
  if (filled.code !== 0) return err(failureOf(filled, `write the files of ${worktree.path}`));
  await markUse(worktree, request);
  return ok({ created: true, keptRef });
}

/**
 * Switches from an empty tree to HEAD. Files that a person staged are in neither, so they stay.
 * Without the empty tree, git would remove them from index and disk.
 */
async function fill(
  context: RepositoryContext,
  { path }: LinkedWorktree,
  sha: Sha,
): Promise<GitOutput> {
  const nothing = sha.length === emptyTree.length ? emptyTree : emptyTreeSha256;
  const args = [...context.checkoutSettings, 'read-tree', '-m', '-u', nothing, 'HEAD'];
  return context.git(args, { at: path });
}

/** Git knows these trees without an object. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const emptyTreeSha256 = '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321';

async function register(
  context: RepositoryContext,
  request: SlotRequest,
): Promise<GitResult<LinkedWorktree>> {
  const freed = await freeBranch(context, request, request.path);
  if (!freed.ok) return freed;
  const folder = dirname(request.path);
  // Work that has not landed is private, whatever the permissions of the repository's folder.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (isOpenToOthers(folder)) {
    return refuse('failed', openToOthers(folder));
  }
  const output = await context.git([
    'worktree',
    'add',
    '-q',
    '--no-checkout',
    ...(await destination(context, request)),
  ]);
  if (output.code !== 0) {
    return err(failureOf(output, `make the worktree ${request.path}`));
  }
  const found = findWorktree(context, request.path);
  if (found.kind !== 'linked') {
    return refuse('failed', `The worktree ${request.path} disappeared while it was being created.`);
  }
  await writeFile(join(found.worktree.gitDir, slotNotes.creation), '');
  await noteConfig(found.worktree);
  return ok(found.worktree);
}

/**
 * Uses the commit id, so that no upstream is set up, which would write the shared configuration and
 * fail with 64 at once.
 */
async function destination(
  context: RepositoryContext,
  request: SlotRequest,
): Promise<readonly string[]> {
  if (request.branch === null) return ['--detach', request.path, request.sha];
  const name = branchName(request.branch);
  const keep = request.keepBranch && (await readRef(context, branchRef(name))) !== null;
  return keep ? [request.path, name] : ['--no-track', '-B', name, request.path, request.sha];
}
