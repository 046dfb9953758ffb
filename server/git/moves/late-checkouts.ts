// A `git switch` reads the branch first, writes the files, and records last what it has checked
// out. A branch that moves in between is checked out nowhere while it moves, and has old files
// under its new commit afterwards: the next commit there would revert the new one. A person's
// failing `git merge` restores the files of the commit that it started from, wherever the branch is
// by then. A `git rebase` that starts at that time writes the files of the commit that it rebases
// onto, sees that HEAD has moved, and stops there. So Drover checks the checkouts again for a while
// after such a move.

import { MadeOnce } from '../../core/made-once.ts';
import { join } from 'node:path';
import { isAncestor } from '../read/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import { type FollowStep, markingFollow } from './cut-follow.ts';
import { moveHeld } from './held-index.ts';
import { checkoutsOf, isCommandRunning } from './git-processes.ts';
import { splitZero } from '../files/paths.ts';
import { exists, factsOf } from '../files/small-files.ts';
import { lockFileOf } from '../process/failures.ts';
import { readRef } from '../refs/refs.ts';
import { branchHolders, unfinishedOperation, type WorktreeHead } from '../refs/worktree-heads.ts';
import type { Sha } from '../sha.ts';

/**
 * Pauses before each check; after a switch that takes longer than all of them, the person sees
 * changed files.
 */
const pausesMs = [0, 150, 350, 500, 1_000];
/** Where the checkout itself has moved, what is staged a while later is a person's. */
const pausesInPlaceMs = [0, 150, 350];
/** A check that finds git there, or its lock, is repeated after this pause and is not counted. */
const busyPauseMs = 100;
/** An editor of a person's `git commit` may stay open for hours. */
const busyMaxMs = 10_000;

/** Returns immediately; the checks cost a few reads of small files each. */
export function lookForLateCheckouts(
  context: RepositoryContext,
  ref: string,
  step: FollowStep,
  inPlace?: { readonly wasClean: boolean },
): void {
  if (step.from === null) return;
  const { from, to } = step;
  const seen: SeenStates = new Map();
  const since: BegunBefore = {
    isUnderWay: inPlace?.wasClean === true,
    mayArriveLate: inPlace === undefined,
  };
  const pauses = inPlace === undefined ? pausesMs : pausesInPlaceMs;
  let busyMs = 0;
  const look = (index: number, pauseMs: number | undefined): void => {
    if (pauseMs === undefined) return;
    const timer = setTimeout(() => {
      repairLate(context, ref, { from, to }, seen, since).then(
        (found) => {
          if (found === 'over') return;
          if (found !== 'busy' || busyMs >= busyMaxMs) return look(index + 1, pauses[index + 1]);
          busyMs += busyPauseMs;
          look(index, busyPauseMs);
        },
        // The repository was removed in the meantime: nothing is left to repair.
        () => undefined,
      );
    }, pauseMs);
    timer.unref();
  };
  look(0, pauses[0]);
}

/**
 * What was last looked into and found as it should be, by the checkout: the branch's commit and the
 * index file.
 */
type SeenStates = Map<string, string>;

/** Whether the index may come from a command that started before the branch moved. */
interface BegunBefore {
  /**
   * Until then, the index matched its branch, and git has been running there at each check since.
   */
  isUnderWay: boolean;
  /**
   * The branch moved where no checkout had it, and none has been seen with what it brought: what a
   * person has staged went along with their switch.
   */
  mayArriveLate: boolean;
  /** No command ran since the branch moved: those that come later read it as it is. */
  hasNoneLeft?: boolean;
}

/** Checkouts whose index matched their branch: the state in which that was observed. */
const cleanStates = new MadeOnce<RepositoryContext, Map<string, string>>();

/**
 * Whether the index holds just what the commit has; costs a git only where the index has changed.
 */
export async function isIndexClean(
  context: RepositoryContext,
  owner: WorktreeHead,
  present: string,
): Promise<boolean> {
  const state = stateOf(owner, present);
  const known = cleanStates.of(context, () => new Map());
  if (known.get(owner.path) === state) return true;
  const diff = await context.git(['diff-index', '--cached', '--quiet', present], {
    at: owner.path,
  });
  if (diff.code === 0) known.set(owner.path, state);
  return diff.code === 0;
}

function stateOf(owner: WorktreeHead, present: string): string {
  const index = factsOf(join(owner.gitDir, 'index'));
  return [present, index?.ino, index?.size, index?.mtimeMs, index?.ctimeMs].join(' ');
}

/**
 * `over`: it was repaired, or the branch has moved on. `busy`: git is running there, and may be
 * about to write what it has read before the move. `open`: nothing is to be repaired yet.
 */
type LateCheck = 'over' | 'busy' | 'open';

/** One check of all checkouts that hold the branch. */
export async function repairLate(
  context: RepositoryContext,
  ref: string,
  step: { readonly from: string; readonly to: string },
  seen: SeenStates = new Map(),
  since: BegunBefore = { isUnderWay: false, mayArriveLate: false },
): Promise<LateCheck> {
  return context.inTurn(`follow ${ref}`, async () => {
    const present = await readRef(context, ref);
    if (present === null || !(await isAncestor(context, step.to, present))) return 'over';
    const { owners } = await branchHolders(context, ref);
    if (owners.length === 0) {
      // A switch says at its end where it has arrived.
      since.hasNoneLeft ||= !isCommandRunning(context, checkoutsOf(context));
      return since.hasNoneLeft ? 'open' : 'busy';
    }
    const found = new Set<LateCheck>();
    for (const owner of owners)
      found.add(await repairAt(context, owner, { ref, ...step, present }, seen, since));
    return (['over', 'busy'] as const).find((each) => found.has(each)) ?? 'open';
  });
}

/** A move of a branch, and where the branch is now. */
interface MovedUnder {
  readonly ref: string;
  readonly from: Sha;
  readonly to: Sha;
  readonly present: Sha;
}

/**
 * Only what is exactly as the old tip has it was left by such a switch or merge; files that a
 * person has changed stay.
 */
async function repairAt(
  context: RepositoryContext,
  owner: WorktreeHead,
  { ref, from, to, present }: MovedUnder,
  seen: SeenStates,
  since: BegunBefore,
): Promise<LateCheck> {
  if (owner.operation !== null) return 'open';
  if (exists(join(owner.gitDir, 'index.lock'))) return 'busy';
  const { isUnderWay } = since;
  const busy = (): LateCheck => {
    since.isUnderWay = isUnderWay;
    return 'busy';
  };
  since.isUnderWay = false;
  const at = owner.path;
  // Taken before git reads the files: a change in between counts as another state.
  const state = stateOf(owner, present);
  if (seen.get(at) === state) return 'open';
  const asNow = await context.git(['diff-index', '--cached', '--quiet', present], { at });
  // A command that started beside the move may still be about to write, and gives up afterwards.
  if (asNow.code === 0 && isUnderWay && isCommandRunning(context, [at])) return busy();
  if (asNow.code === 0) {
    since.mayArriveLate = false;
    seen.set(at, state);
    cleanStates.of(context, () => new Map()).set(at, state);
  }
  if (asNow.code !== 1) return 'open';
  // Its own end is waited for: it may be about to write what it has read before the repair.
  if (isCommandRunning(context, [at])) return busy();
  if (isUnderWay && (await isOfAnother(context, at, { from, to })))
    return (await putBack(context, owner, ref, { state, present })) ?? busy();
  const asBefore = await context.git(['diff-index', '--cached', '--quiet', from], { at });
  const isAsBefore = asBefore.code === 0;
  if (!isAsBefore && !(await lacksTheStep(context, at, { from, to, present }, since))) {
    seen.set(at, state);
    return 'open';
  }
  const step = { from, to: isAsBefore ? present : to };
  return (await takeOver(context, owner, ref, { state, present }, step)) ?? busy();
}

const candidatesMax = 20;

/**
 * The index is that of a commit from which a rebase would have started, before the branch's or
 * fetched, apart from the changes of the move: the command that started there found that HEAD had
 * moved, and gave up.
 */
async function isOfAnother(
  context: RepositoryContext,
  at: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> {
  const lines = async (...args: readonly string[]): Promise<readonly string[] | null> => {
    const output = await context.git([...args], { at });
    return output.code === 0 ? output.stdout.toString('utf8').split('\n').filter(Boolean) : null;
  };
  const named = ['--name-only', '--no-renames'];
  const changed = await lines('diff-tree', '-r', ...named, from, to);
  const asTold = await lines('diff-index', '--cached', ...named, to);
  if (changed === null || asTold === null) return false;
  const brought = new Set(changed.filter((path) => !asTold.includes(path)));
  const most = `${candidatesMax}`;
  const below = await lines('rev-list', '--first-parent', `--max-count=${most}`, '--skip=1', from);
  const fetched = await lines(
    'for-each-ref',
    `--count=${most}`,
    '--sort=-committerdate',
    '--format=%(objectname)',
    'refs/remotes',
  );
  for (const commit of new Set([...(below ?? []), ...(fetched ?? [])])) {
    if (commit === from || commit === to) continue;
    const staged = await lines('diff-index', '--cached', ...named, commit);
    if (staged?.every((path) => brought.has(path)) === true) return true;
  }
  return false;
}

/** What was read: the commit of the branch, and its state in a checkout. */
interface Found {
  readonly state: string;
  readonly present: Sha;
}

/**
 * Files that differ from the index are a person's: then git refuses, and nothing is touched. Null:
 * git holds the index.
 */
async function putBack(
  context: RepositoryContext,
  owner: WorktreeHead,
  ref: string,
  found: Found,
): Promise<LateCheck | null> {
  const tree = await context.git(['write-tree'], { at: owner.path });
  if (tree.code !== 0) return 'open';
  const step = { from: tree.stdout.toString('utf8').trim(), to: found.present };
  // Git notes the tree in the index.
  const state = stateOf(owner, found.present);
  return takeOver(context, owner, ref, { ...found, state }, step);
}

/**
 * Index and files from what they are of to what they should be of, unless they or the branch have
 * changed since they were read. Null: they must be read again.
 */
async function takeOver(
  context: RepositoryContext,
  owner: WorktreeHead,
  ref: string,
  { state, present }: Found,
  { from, to }: { readonly from: Sha; readonly to: Sha },
): Promise<LateCheck | null> {
  const at = owner.path;
  const isAsFound = async (): Promise<boolean> =>
    stateOf(owner, present) === state && (await readRef(context, ref)) === present;
  const held = await markingFollow(context, ref, { from, to }, () =>
    moveHeld(context, owner, { from, to, ref: null }, { isAsFound }),
  );
  if (held !== null)
    return held.kind === 'moved' ? 'over' : held.kind === 'refused' ? 'open' : null;
  const moved = await context.git(['read-tree', '-m', '-u', from, to], { at, waitForLocks: false });
  if (moved.code === 0) return 'over';
  return lockFileOf(moved.stderr) === null ? 'open' : null;
}

/**
 * A commit was made on top of the move from an index with the old files: all differences between
 * index and branch are the changes of the move, and they are as in `from`. Other changes are ones
 * that the person had staged.
 */
async function lacksTheStep(
  context: RepositoryContext,
  at: string,
  step: { readonly from: string; readonly to: string; readonly present: string },
  since: BegunBefore,
): Promise<boolean> {
  const names = async (...args: readonly string[]): Promise<ReadonlySet<string> | null> => {
    const output = await context.git([...args], { at });
    return output.code === 0 ? new Set(splitZero(output.stdout)) : null;
  };
  const named = ['-z', '--name-only', '--no-renames'];
  const changed = await names('diff-tree', '-r', ...named, step.from, step.to);
  const staged = await names('diff-index', '--cached', ...named, step.from);
  const differing = await names('diff-index', '--cached', ...named, step.present);
  if (changed === null || staged === null || differing === null || changed.size === 0) return false;
  const lacks = [...changed].filter((path) => differing.has(path));
  if (lacks.length < changed.size) since.mayArriveLate = false;
  return (
    lacks.length === changed.size &&
    (changed.size === differing.size || since.mayArriveLate) &&
    lacks.every((path) => !staged.has(path))
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
