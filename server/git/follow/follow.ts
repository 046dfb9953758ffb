// Moves a target branch to the landing tip: by compare-and-swap if it is not checked out, otherwise
// by git's own fast-forward in the checkout. Never forces.

import { ok } from '../../core/failure.ts';
import type { WrongFiles } from '../../core/work/wrong-state.ts';
import { firstParentCount, isAncestor } from '../ask/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import { refuse } from '../failures.ts';
import type { BranchMove, FollowOutcome, GitResult } from '../port.ts';
import { type KeepCheckout, moveCheckout, findObstacle } from './checkout.ts';
import { cureFiles, lookAtCheckouts } from './look.ts';
import { branchName, branchRef, finalRef, readRef, updateRefs } from '../refs/refs.ts';
import { branchHolders, type WorktreeHead } from '../refs/worktree-heads.ts';
import type { Sha } from '../sha.ts';

export interface FollowOptions {
  readonly mode: 'fast-forward' | 'never';
  /** The expected value of the branch. Absent = any. */
  readonly seen?: Sha | null | undefined;
  readonly keep: KeepCheckout;
}

export async function follow(
  context: RepositoryContext,
  target: string,
  tip: Sha,
  how: FollowOptions,
): Promise<GitResult<FollowOutcome>> {
  return inTurn(context, target, (branch) => followNow(context, branch, tip, how));
}

interface Branch {
  /** The ref that the name resolves to, which may differ for a symbolic ref. */
  readonly ref: string;
  /** The name to display. */
  readonly name: string;
}

/** Runs one move at a time per branch. */
function inTurn<T>(
  context: RepositoryContext,
  branch: string,
  body: (branch: Branch) => Promise<T>,
): Promise<T> {
  const named = branchRef(branch);
  return context.inTurn(`follow ${named}`, async () =>
    body({ ref: await finalRef(context, named), name: branchName(branch) }),
  );
}

const maxStaleTries = 5;

async function followNow(
  context: RepositoryContext,
  branch: Branch,
  tip: Sha,
  how: FollowOptions,
): Promise<GitResult<FollowOutcome>> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await followOnce(context, branch, tip, how);
    if (outcome !== 'stale') return outcome;
    if (tries >= maxStaleTries)
      return refuse('stale', `Someone else moved ${branch.name} meanwhile.`);
  }
}

async function followOnce(
  context: RepositoryContext,
  { ref, name }: Branch,
  tip: Sha,
  { mode, seen, keep }: FollowOptions,
): Promise<GitResult<FollowOutcome> | 'stale'> {
  const current = await readRef(context, ref);
  if (current === tip) return followed(tip);
  if (seen !== undefined && seen !== current)
    return refuse('stale', `Someone else moved ${name} meanwhile.`);
  const pending = async (reason: string): Promise<GitResult<FollowOutcome>> => {
    const commits = current === null ? 1 : await firstParentCount(context, current, tip);
    return ok({ kind: 'pending', commits, reason });
  };
  if (current !== null && !(await isAncestor(context, current, tip))) {
    if (await isAncestor(context, tip, current)) return followed(current);
    return pending(`${name} has commits that are not part of the landed work yet.`);
  }
  const { owners, busy } = await branchHolders(context, ref);
  const obstacle = obstacleOf(name, busy) ?? findObstacle(context, ref, owners, mode);
  if (obstacle !== null) return pending(obstacle);
  const [owner] = owners;
  if (owner !== undefined && current === null)
    return pending(`${name} has no commit yet, and is checked out in ${owner.path}.`);
  if (owner === undefined || current === null) {
    const moved = await updateRefs(context, [{ ref, next: tip, old: current }], 'drover: land');
    if (moved.ok) return followed(tip);
    if (moved.error.kind === 'locked') return pending(moved.error.message);
    return moved.error.kind === 'stale' ? 'stale' : moved;
  }
  const end = await moveCheckout(context, ref, owner, { from: current, to: tip }, keep);
  switch (end.kind) {
    case 'moved':
      return followed(tip, end.wrong);
    case 'refused':
      return pending(end.reason);
    case 'stale':
      return 'stale';
  }
}

function obstacleOf(name: string, busy: WorktreeHead | null): string | null {
  if (!busy?.operation) return null;
  const { kind } = busy.operation;
  const end = kind === 'bisect' ? 'git bisect reset' : `git ${kind} --abort`;
  return `${name} is in the middle of a ${kind} in ${busy.path}. Finish it, or run "${end}" there.`;
}

function followed(sha: Sha, wrong: WrongFiles | null = null): GitResult<FollowOutcome> {
  return ok({ kind: 'followed', sha, ...(wrong !== null && { wrong }) });
}

/** Checks the checkouts of a branch again after it moved. */
export async function lookAfter(
  context: RepositoryContext,
  branch: string,
  from: Sha,
  to: Sha,
): Promise<WrongFiles | null> {
  return inTurn(context, branch, ({ ref }) => lookAtCheckouts(context, ref, { from, to }));
}

/** Returns the remaining problems. */
export async function cure(
  context: RepositoryContext,
  branch: string,
  wrong: WrongFiles,
  keep: KeepCheckout,
): Promise<GitResult<WrongFiles | null>> {
  return inTurn(context, branch, async ({ ref }) => {
    const present = await lookAtCheckouts(context, ref, wrong);
    if (present === null) return ok(null);
    const { owners } = await branchHolders(context, ref);
    for (const owner of owners.filter(({ path }) => path === present.checkout)) {
      const kept = await keep(owner);
      if (!kept.ok) return kept;
      const cured = await cureFiles(context, present);
      if (!cured.ok) return cured;
    }
    return ok(await lookAtCheckouts(context, ref, wrong));
  });
}

/**
 * Moves, creates (`from` null) or deletes (`next` null) one of Drover's branches, if its value is
 * `from`. Never changes a branch under a worktree: if it is checked out, the worktree is
 * fast-forwarded or the branch stays.
 */
export async function moveBranch(
  context: RepositoryContext,
  branch: string,
  move: { readonly next: Sha | null; readonly from: Sha | null },
  keep: KeepCheckout,
): Promise<GitResult<BranchMove>> {
  const { next, from } = move;
  return inTurn(context, branch, async ({ ref, name }) => {
    const current = await readRef(context, ref);
    if (current === next) return ok({ kind: 'moved' });
    if (current !== from) return refuse('stale', `${name} was just moved by someone else.`);
    const { owners, busy } = await branchHolders(context, ref);
    const holder = owners[0] ?? busy;
    if (holder === null) {
      const moved = await updateRefs(context, [{ ref, next, old: current }], 'drover: own branch');
      return moved.ok ? ok({ kind: 'moved' }) : moved;
    }
    const isForward =
      next !== null && current !== null && (await isAncestor(context, current, next));
    if (!isForward)
      return ok({ kind: 'kept', reason: `${name} is checked out in ${holder.path}.` });
    const how = { mode: 'fast-forward', keep } as const;
    const moved = await followNow(context, { ref, name: branchName(ref) }, next, how);
    if (!moved.ok) return moved;
    return moved.value.kind === 'followed'
      ? ok({ kind: 'moved' })
      : ok({ kind: 'kept', reason: moved.value.reason });
  });
}
