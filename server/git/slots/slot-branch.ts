// Runs before a branch is created or reset for a slot: no other worktree may have it checked out,
// and its commits must stay reachable.

import { dirname } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import { isAncestor } from '../ask/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, refuse } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { branchName, branchRef, readRef } from '../refs/refs.ts';
import { chainCommit, labelOfBranch } from '../keep/work-chain.ts';
import { worktreeHeads, type WorktreeHead } from '../refs/worktree-heads.ts';
import { forgetMissing } from '../keep/worktree-metadata.ts';
import { exists } from '../../files/small-files.ts';
import { findWorktree } from '../refs/worktree-link.ts';
import type { SlotRequest } from '../slot-port.ts';

export async function freeBranch(
  context: RepositoryContext,
  request: SlotRequest,
  path: string,
): Promise<GitResult<void>> {
  if (request.branch === null) return ok(undefined);
  const ref = branchRef(request.branch);
  const old = await readRef(context, ref);
  // A branch that does not exist is not checked out and contains nothing. This usual case needs
  // only one check.
  if (old === null) return ok(undefined);
  for (const holder of await worktreeHeads(context)) {
    if (holder.branch !== ref || holder.path === path) continue;
    const left = await leaveBranch(context, holder, path, old);
    if (!left.ok) return left;
  }
  const lost = !request.keepBranch && old !== request.sha;
  if (!lost || (await isAncestor(context, old, request.sha))) return ok(undefined);
  const kept = await chainCommit(context, old, labelOfBranch(ref));
  return kept.ok ? ok(undefined) : kept;
}

/** Detaches a slot that a dead run left on the branch, without touching its files and index. */
async function leaveBranch(
  context: RepositoryContext,
  holder: WorktreeHead,
  path: string,
  at: string,
): Promise<GitResult<void>> {
  if (!exists(holder.path)) {
    const forgotten = await forgetMissing(context, holder);
    return forgotten.ok ? ok(undefined) : forgotten;
  }
  // An entry that came with a copied repository refers to a folder of the original. Only the entry
  // is ours.
  const isForeign =
    holder.path !== context.root && findWorktree(context, holder.path).kind === 'foreign';
  if (!isForeign && (holder.path === context.root || dirname(holder.path) !== dirname(path))) {
    const name = branchName(holder.branch ?? '');
    return refuse(
      'failed',
      `Branch ${name} is checked out in ${holder.path}: switch to another one there.`,
    );
  }
  const args = [
    'update-ref',
    '--no-deref',
    '-m',
    'drover: the branch moves to another slot',
    'HEAD',
    at,
  ];
  const detached = await context.git(args, { at: holder.path });
  return detached.code === 0 ? ok(undefined) : err(failureOf(detached, `detach ${holder.path}`));
}
