// Slots in which everything was committed when their attempt ended, and nothing has been committed
// or staged since. Their files may have changed: only a check of them tells that.

import { MadeOnce } from '../../core/made-once.ts';
import type { RepositoryContext } from '../context.ts';
import { stampOfIndex, type LinkedWorktree } from '../files/worktree-link.ts';
import { readRef } from '../refs/refs.ts';
import { readHead } from '../refs/worktree-heads.ts';
import type { Sha } from '../sha.ts';

/** By slot: its branch, its commit and its index. */
const committed = new MadeOnce<RepositoryContext['snapshotStates'], Map<string, string>>();

function committedIn(context: RepositoryContext): Map<string, string> {
  return committed.of(context.snapshotStates, () => new Map());
}

function stateOf(worktree: LinkedWorktree, ref: string, head: Sha): string {
  return `${ref} ${head} ${stampOfIndex(worktree)}`;
}

export function noteCommitted(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  ref: string,
  head: Sha,
): void {
  committedIn(context).set(worktree.path, stateOf(worktree, ref, head));
}

/** A snapshot is taken: its attempt continues in it, or has stopped. */
export function forgetCommitted(context: RepositoryContext, worktree: LinkedWorktree): void {
  committedIn(context).delete(worktree.path);
}

/** The commit of such a slot, once: its next user may leave it in another state. Else null. */
export async function takeCommitted(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<Sha | null> {
  const noted = committedIn(context).get(worktree.path);
  forgetCommitted(context, worktree);
  if (noted === undefined || !context.refsAreFiles) return null;
  const { branch } = readHead(worktree.gitDir);
  const head = branch === null ? null : await readRef(context, branch);
  if (branch === null || head === null) return null;
  return noted === stateOf(worktree, branch, head) ? head : null;
}
