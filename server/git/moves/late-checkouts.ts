// A `git switch` reads the branch first, writes the files, and says last what it has checked out. A
// branch that moves in between is checked out nowhere as it moves, and has old files under its new
// commit afterwards: the next commit there would take the new one back. A `git merge` of a person's
// that fails puts the files back to the commit that it began at, wherever the branch is by then. So
// the checkouts are looked at again for a while after such a move.

import { join } from 'node:path';
import { isAncestor } from '../read/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import type { FollowStep } from './cut-follow.ts';
import { splitZero } from '../files/paths.ts';
import { exists, factsOf } from '../files/small-files.ts';
import { readRef } from '../refs/refs.ts';
import { branchHolders, unfinishedOperation, type WorktreeHead } from '../refs/worktree-heads.ts';

/**
 * Pauses before each look; a switch that takes longer than all of them is met by the person as
 * changed files.
 */
const pausesMs = [0, 150, 350, 500, 1_000];
/** Where the checkout itself has moved, what is staged a while later is a person's. */
const pausesInPlaceMs = [0, 150, 350];

/** Returns at once; the looks cost a few reads of small files each. */
export function lookForLateCheckouts(
  context: RepositoryContext,
  ref: string,
  step: FollowStep,
  wasInPlace = false,
): void {
  if (step.from === null) return;
  const { from, to } = step;
  const seen: SeenStates = new Map();
  const look = (index: number): void => {
    const pauseMs = (wasInPlace ? pausesInPlaceMs : pausesMs)[index];
    if (pauseMs === undefined) return;
    const timer = setTimeout(() => {
      repairLate(context, ref, { from, to }, seen).then(
        (isOver) => (isOver ? undefined : look(index + 1)),
        // The repository went away meanwhile: nothing is left to repair.
        () => undefined,
      );
    }, pauseMs);
    timer.unref();
  };
  look(0);
}

/**
 * What was last looked into and found as it should be, by the checkout: the branch's commit and the
 * index file.
 */
type SeenStates = Map<string, string>;

/** True when nothing is left to look for: it was repaired, or the branch has moved on. */
export async function repairLate(
  context: RepositoryContext,
  ref: string,
  step: { readonly from: string; readonly to: string },
  seen: SeenStates = new Map(),
): Promise<boolean> {
  return context.inTurn(`follow ${ref}`, async () => {
    const present = await readRef(context, ref);
    if (present === null || !(await isAncestor(context, step.to, present))) return true;
    const { owners } = await branchHolders(context, ref);
    let isOver = false;
    for (const owner of owners) {
      if (await repairAt(context, owner, { ...step, present }, seen)) isOver = true;
    }
    return isOver;
  });
}

/**
 * Only what is exactly as the old tip has it was left by such a switch or merge; files that a
 * person has changed stay.
 */
async function repairAt(
  context: RepositoryContext,
  owner: WorktreeHead,
  { from, to, present }: { readonly from: string; readonly to: string; readonly present: string },
  seen: SeenStates,
): Promise<boolean> {
  if (owner.operation !== null || exists(join(owner.gitDir, 'index.lock'))) return false;
  const at = owner.path;
  // Taken before git looks: what comes in between is another state.
  const index = factsOf(join(owner.gitDir, 'index'));
  const state = [present, index?.ino, index?.size, index?.mtimeMs, index?.ctimeMs].join(' ');
  if (seen.get(at) === state) return false;
  const asNow = await context.git(['diff-index', '--cached', '--quiet', present], { at });
  if (asNow.code === 0) seen.set(at, state);
  if (asNow.code !== 1) return false;
  const asBefore = await context.git(['diff-index', '--cached', '--quiet', from], { at });
  const isAsBefore = asBefore.code === 0;
  if (!isAsBefore && !(await lacksTheStep(context, at, { from, to }, present))) {
    seen.set(at, state);
    return false;
  }
  const next = isAsBefore ? present : to;
  const moved = await context.git(['read-tree', '-m', '-u', from, next], {
    at,
    waitForLocks: false,
  });
  return moved.code === 0;
}

/**
 * A commit was made on top of the step from an index that still held the files of before: all that
 * the index has otherwise than the branch is what the step changed, and it is as `from` has it.
 */
async function lacksTheStep(
  context: RepositoryContext,
  at: string,
  step: { readonly from: string; readonly to: string },
  present: string,
): Promise<boolean> {
  const names = async (...args: readonly string[]): Promise<ReadonlySet<string> | null> => {
    const output = await context.git([...args], { at });
    return output.code === 0 ? new Set(splitZero(output.stdout)) : null;
  };
  const named = ['-z', '--name-only', '--no-renames'];
  const changed = await names('diff-tree', '-r', ...named, step.from, step.to);
  const staged = await names('diff-index', '--cached', ...named, step.from);
  const differing = await names('diff-index', '--cached', ...named, present);
  if (changed === null || staged === null || differing === null || changed.size === 0) return false;
  return (
    changed.size === differing.size &&
    [...changed].every((path) => !staged.has(path) && differing.has(path))
  );
}

/**
 * A person moved the branch after a follow had written its files: they go back to what HEAD has,
 * unless the index has changed since.
 */
export async function takeBackFiles(
  context: RepositoryContext,
  owner: WorktreeHead,
  to: string,
): Promise<void> {
  const at = owner.path;
  if (unfinishedOperation(owner.gitDir) !== null) return;
  const isOurs = await context.git(['diff-index', '--cached', '--quiet', to], { at });
  if (isOurs.code !== 0) return;
  await context.git(['read-tree', '-m', '-u', to, 'HEAD'], { at, waitForLocks: false });
}
