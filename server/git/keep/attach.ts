// Moves work to the attempt's branch wherever the agent ended: on another branch, detached, or on a
// branch without a commit.

import { err, ok } from '../../core/failure.ts';
import { isAncestor } from '../ask/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../failures.ts';
import type { GitResult } from '../port.ts';
import type { RefChange } from '../refs/transactions.ts';
import { branchName, branchRef, readRef, updateRefs } from '../refs/refs.ts';
import type { ParsedStatus } from '../ask/status-format.ts';
import { chainCommit, labelOfBranch } from './work-chain.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { Sha } from '../sha.ts';

export interface Standing {
  /** The commit on which uncommitted changes are committed. */
  readonly head: Sha;
  /** Set if the branch is ahead of HEAD: the commit of the branch to merge HEAD's commits into. */
  readonly mergeInto: Sha | null;
}

export interface AttachRequest {
  readonly branch: string;
  readonly base: Sha;
}

export function isOnBranch(status: ParsedStatus, branch: string): boolean {
  return status.head !== null && status.branch === branchName(branch);
}

/**
 * Sets HEAD to the branch without touching index or files. Commits of the branch that HEAD lacks
 * are kept first.
 */
export async function attachToBranch(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  status: ParsedStatus,
  request: AttachRequest,
): Promise<GitResult<Standing>> {
  const ref = branchRef(request.branch);
  const old = await readRef(context, ref);
  const head = status.head ?? old ?? request.base;
  if (old !== null && old !== head && (await isAncestor(context, head, old))) {
    return detachedBehind(context, worktree, head, old);
  }
  const changes: RefChange[] = [];
  if (old !== head) {
    if (old !== null && !(await isAncestor(context, old, head))) {
      const kept = await chainCommit(context, old, labelOfBranch(request.branch), 'agent');
      if (!kept.ok) return kept;
    }
    changes.push({ ref, next: head, old });
  }
  const moved = await updateRefs(context, changes, 'drover: take the work of the agent');
  if (!moved.ok) return moved;
  const attached = await context.git(
    ['symbolic-ref', '-m', 'drover: back to the branch of the attempt', 'HEAD', ref],
    { at: worktree.path },
  );
  if (attached.code !== 0) return err(failureOf(attached, `put HEAD on ${request.branch}`));
  return ok({ head, mergeInto: null });
}

/** The agent checked out an older commit, which must not drop its newer ones. */
async function detachedBehind(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  head: Sha,
  old: Sha,
): Promise<GitResult<Standing>> {
  const args = ['update-ref', '--no-deref', '-m', 'drover: detach', 'HEAD', head];
  const detached = await context.git(args, { at: worktree.path });
  if (detached.code !== 0) return err(failureOf(detached, `detach HEAD in ${worktree.path}`));
  return ok({ head, mergeInto: old });
}
