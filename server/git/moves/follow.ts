// Moves a target branch to the landing tip without ever forcing anything on the user's checkout.

import { join } from 'node:path';
import { ok } from '../../core/failure.ts';
import { firstParentCount, isAncestor } from '../read/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import { refuse } from '../process/failures.ts';
import type { BranchMove, FollowOutcome, GitResult } from '../port.ts';
import { hasLeft } from './branch-log.ts';
import { clearCutFollow, type FollowStep, markingFollow } from './cut-follow.ts';
import { atWork, type Changed, fastForward } from './fast-forward.ts';
import { checkoutsOf, commandsEnd, isLeftAlone } from './git-processes.ts';
import { isIndexClean, lookForLateCheckouts } from './late-checkouts.ts';
import { branchName, branchRef, finalRef, readRef, updateRefs } from '../refs/refs.ts';
import { beganRebaseAt, branchHolders, type WorktreeHead } from '../refs/worktree-heads.ts';
import { exists } from '../files/small-files.ts';
import type { Sha } from '../sha.ts';

export type FollowMode = 'fast-forward' | 'never';

export interface FollowOptions {
  readonly mode: FollowMode;
  /** The required value of the branch; absent: any. */
  readonly seen?: Sha | null | undefined;
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
  /** Where its name ends, which may be a symbolic ref's. */
  readonly ref: string;
  /** As people name it. */
  readonly name: string;
}

/** One move at a time for each branch. */
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
  { ref, name }: Branch,
  tip: Sha,
  { mode, seen }: FollowOptions,
): Promise<GitResult<FollowOutcome>> {
  for (let tries = 0; ; tries += 1) {
    const current = await readRef(context, ref);
    const cutIn = await clearCutFollow(context, ref, current);
    if (current === tip) return (await notArrived(context, ref, tip, cutIn)) ?? followed(tip);
    if (seen !== undefined && seen !== current)
      return refuse('stale', `Someone else moved ${name} meanwhile.`);
    if (
      (await hasLeft(context, ref, tip)) &&
      (current === null || !(await isAncestor(context, tip, current)))
    )
      return followed(tip);
    const pending = async (reason: string): Promise<GitResult<FollowOutcome>> =>
      ok({
        kind: 'pending',
        commits: current === null ? 1 : await firstParentCount(context, current, tip),
        reason,
      });
    if (current !== null && !(await isAncestor(context, current, tip))) {
      if (await isAncestor(context, tip, current)) return followed(current);
      return pending(`${name} has commits that are not part of what has landed yet.`);
    }
    const { owners, busy } = await branchHolders(context, ref);
    if (busy?.operation) {
      return pending(`${name} is in the middle of a ${busy.operation.kind} in ${busy.path}.`);
    }
    const owner = owners[0] ?? null;
    // Before the check for operations in progress: a process that writes the index later has
    // already marked itself.
    const wasClean =
      owner !== null && current !== null && (await isIndexClean(context, owner, current));
    const obstacle = await obstacleAt(context, ref, owners, mode);
    if (obstacle !== null) return pending(obstacle);
    // The checks above take time, in which a person may have moved back: git would follow from
    // there. This one comes last, so that little time is left for a command to start in.
    const commands = await othersEnd(context, owner, tries === 0);
    if (typeof commands === 'object') return pending(`Git is running: ${commands.running}.`);
    const isOld = commands === 'waited' || (await readRef(context, ref)) !== current;
    if (isOld && tries < maxStaleTries) continue;
    const step = { from: current, to: tip };
    if (owner !== null) {
      const refused = await followHeld(context, ref, owner, step, wasClean);
      if (refused === null) return followed(tip);
      if (typeof refused === 'string') return pending(refused);
      if (!refused.isTakenBack && tries < maxStaleTries) continue;
      return refuse('stale', `Someone else moved ${name} meanwhile.`);
    }
    const moved = await markingFollow(context, ref, step, async () =>
      isLeftAlone(context, ref)
        ? updateRefs(context, [{ ref, next: tip, old: current }], 'drover: land')
        : refuse('stale', `${ref} is in use by a git command of someone else.`),
    );
    if (moved.ok) {
      lookForLateCheckouts(context, ref, step);
      return followed(tip);
    }
    if (moved.error.kind === 'locked') return pending(moved.error.message);
    if (moved.error.kind !== 'stale' || tries >= maxStaleTries) return moved;
  }
}

/** A branch that no checkout holds asks once more as it moves: at first only there. */
async function othersEnd(
  context: RepositoryContext,
  owner: WorktreeHead | null,
  isFirst: boolean,
): ReturnType<typeof commandsEnd> {
  if (owner !== null) return commandsEnd(context, [owner.path]);
  return isFirst ? 'free' : commandsEnd(context, checkoutsOf(context));
}

function followed(sha: Sha): GitResult<FollowOutcome> {
  return ok({ kind: 'followed', sha });
}

/**
 * The branch is at the tip, but its checkout may not be whole yet; and a rebase that started while
 * it landed knows only the earlier state: it will put the branch back there. Until the rebase has
 * ended, the tip has not arrived.
 */
async function notArrived(
  context: RepositoryContext,
  ref: string,
  tip: Sha,
  cutIn: string | null,
): Promise<GitResult<FollowOutcome> | null> {
  if (cutIn !== null)
    return ok({ kind: 'pending', commits: 1, reason: `Git is running in ${cutIn}.` });
  const { busy } = await branchHolders(context, ref);
  const began = busy === null ? null : beganRebaseAt(busy);
  if (busy === null || began === null || (await isAncestor(context, tip, began))) return null;
  const commits = Math.max(1, await firstParentCount(context, began, tip));
  const reason = `${branchName(ref)} is in the middle of a rebase in ${busy.path} that began before this landed.`;
  return ok({ kind: 'pending', commits, reason });
}

/**
 * Moves, creates (`from` null) or deletes (`next` null) a branch of Drover, from exactly the value
 * `from`. It never changes a branch under a worktree: a worktree that has it checked out is
 * fast-forwarded, or keeps it unchanged.
 */
export async function moveBranch(
  context: RepositoryContext,
  branch: string,
  next: Sha | null,
  from: Sha | null,
): Promise<GitResult<BranchMove>> {
  return inTurn(context, branch, async ({ ref, name }) => {
    const current = await readRef(context, ref);
    if (current === next) return ok({ kind: 'moved' });
    if (current !== from) return refuse('stale', `${name} was just moved by someone else.`);
    const { owners, busy } = await branchHolders(context, ref);
    const holder = owners[0] ?? busy;
    if (holder === null) {
      const moved = await updateRefs(context, [{ ref, next, old: current }], 'drover: own branch');
      if (moved.ok && next !== null)
        lookForLateCheckouts(context, ref, { from: current, to: next });
      return moved.ok ? ok({ kind: 'moved' }) : moved;
    }
    const isForward =
      next !== null && current !== null && (await isAncestor(context, current, next));
    if (!isForward)
      return ok({ kind: 'kept', reason: `${name} is checked out in ${holder.path}.` });
    const followed = await followNow(context, { ref, name: branchName(ref) }, next, {
      mode: 'fast-forward',
    });
    if (!followed.ok) return followed;
    return followed.value.kind === 'followed'
      ? ok({ kind: 'moved' })
      : ok({ kind: 'kept', reason: followed.value.reason });
  });
}

/** Why the checkouts that hold the branch must not be touched now, or null. */
async function obstacleAt(
  context: RepositoryContext,
  ref: string,
  owners: readonly WorktreeHead[],
  mode: FollowMode,
): Promise<string | null> {
  const name = branchName(ref);
  const [owner, second] = owners;
  if (!owner) return null;
  if (mode === 'never') {
    return `${name} is checked out in ${owner.path}, and checkout.follow is "never".`;
  }
  if (second) return `${name} is checked out twice, in ${owner.path} and ${second.path}.`;
  if (!exists(owner.path)) {
    return `${name} belongs to the worktree ${owner.path}, whose folder does not exist. Run "git worktree prune".`;
  }
  if (owner.operation && owner.operation.kind !== 'bisect') {
    return `A ${owner.operation.kind} is unfinished in ${owner.path}.`;
  }
  for (const lock of [join(owner.gitDir, 'index.lock'), join(context.commonDir, `${ref}.lock`)]) {
    if (exists(lock)) return atWork(owner.path, lock);
  }
  return null;
}

/** Null when the checkout that holds the branch has moved with it; else why it has not. */
async function followHeld(
  context: RepositoryContext,
  ref: string,
  owner: WorktreeHead,
  step: FollowStep,
  wasClean: boolean,
): Promise<string | Changed | null> {
  const refused = await markingFollow(context, ref, step, () =>
    fastForward(context, ref, owner, step),
  );
  const now = refused === null ? step : { from: step.from, to: step.from ?? step.to };
  lookForLateCheckouts(context, ref, now, { wasClean });
  return refused;
}
