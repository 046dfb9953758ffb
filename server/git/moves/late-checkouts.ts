// A `git switch` reads the branch first, writes the files, and says last what it has checked out. A branch that moves in
// between is checked out nowhere as it moves, and has old files under its new commit afterwards: the next commit there
// would take the new one back. So the checkouts are looked at again for a while after such a move.

import { isAncestor } from '../read/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import type { FollowStep } from './cut-follow.ts';
import { exists } from '../files/small-files.ts';
import { join } from 'node:path';
import { readRef } from '../refs/refs.ts';
import { branchHolders, type WorktreeHead } from '../refs/worktree-heads.ts';

/** Pauses before each look; a switch that takes longer than all of them is met by the person as changed files. */
const pausesMs = [0, 150, 350, 500, 1_000];

/** Returns at once; the looks cost a few reads of small files each. */
export function lookForLateCheckouts(
  context: RepositoryContext,
  ref: string,
  step: FollowStep,
): void {
  if (step.from === null) return;
  const { from, to } = step;
  const look = (index: number): void => {
    const pauseMs = pausesMs[index];
    if (pauseMs === undefined) return;
    const timer = setTimeout(() => {
      repairLate(context, ref, { from, to }).then(
        (isOver) => (isOver ? undefined : look(index + 1)),
        // The repository went away meanwhile: nothing is left to repair.
        () => undefined,
      );
    }, pauseMs);
    timer.unref();
  };
  look(0);
}

/** True when nothing is left to look for: it was repaired, or the branch has moved on. */
export async function repairLate(
  context: RepositoryContext,
  ref: string,
  step: { readonly from: string; readonly to: string },
): Promise<boolean> {
  return context.inTurn(`follow ${ref}`, async () => {
    const present = await readRef(context, ref);
    if (present === null || !(await isAncestor(context, step.to, present))) return true;
    const { owners } = await branchHolders(context, ref);
    let isOver = false;
    for (const owner of owners) {
      if (await repairAt(context, owner, step.from, present)) isOver = true;
    }
    return isOver;
  });
}

/** Only an index that is exactly the old tip's was left by such a switch; files that a person has changed stay. */
async function repairAt(
  context: RepositoryContext,
  owner: WorktreeHead,
  from: string,
  to: string,
): Promise<boolean> {
  if (owner.operation !== null || exists(join(owner.gitDir, 'index.lock'))) return false;
  const at = owner.path;
  const asBefore = await context.git(['diff-index', '--cached', '--quiet', from], { at });
  const asNow = await context.git(['diff-index', '--cached', '--quiet', to], { at });
  if (asBefore.code !== 0 || asNow.code !== 1) return false;
  const moved = await context.git(['read-tree', '-m', '-u', from, to], { at, waitForLocks: false });
  return moved.code === 0;
}
