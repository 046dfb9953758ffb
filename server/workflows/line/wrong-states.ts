// Detects states of branches and checkouts that Drover reports: files that differ from their
// commit, and landed work that a reset or an aborted rebase removed from a branch.

import { branchRef, rescueRef } from '../../core/work/ref-names.ts';
import { bearOurHand, landingMark } from '../../core/line/waiting.ts';
import type { WrongFiles, WrongState } from '../../core/work/wrong-state.ts';
import type { Sha } from '../../git/sha.ts';
import { type LineRow, readLine, setWrongStates, wrongStates } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { lineMax } from './facts.ts';
import { changesNothing } from './landed.ts';

/** Number of rounds before known states are checked again. */
const roundsMax = 15;

/**
 * Checks reported states, and branches that moved since the last round, because a git command that
 * ran during the move may have ended after the check that followed. `before`: the tips of all
 * branches in the last round.
 */
export async function checkWrongStates(
  engine: Uses<'git' | 'store'>,
  line: LineRow,
  before: Sha | null,
  round: number,
): Promise<void> {
  const { branch, followed_sha: now } = line;
  const look = async (from: Sha, to: Sha): Promise<void> =>
    noteFiles(engine, branch, await engine.git.lookAfter(branch, from, to));
  if (before !== null && now !== null && (await didFollow(engine, before, now)))
    await look(before, now);
  for (const state of wrongStates(line)) {
    if (state.kind === 'moved_back') await forgetIfBack(engine, branch, state.tip);
    else if (round % roundsMax === 0) await look(state.from, state.to);
  }
}

/** Returns false for a branch that users moved, whose files Drover does not check. */
async function didFollow({ git }: Uses<'git'>, before: Sha, now: Sha): Promise<boolean> {
  if (before === now || !(await git.isAncestor(before, now))) return false;
  const newest = await git.lineCommits(before, now, 1);
  return newest.ok && newest.value.length > 0 && bearOurHand(newest.value);
}

async function forgetIfBack(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tip: Sha,
): Promise<void> {
  const target = await engine.git.readRef(branchRef(branch));
  if (target !== null && (await engine.git.isAncestor(tip, target)))
    await forgetRewind(engine, branch);
}

export async function forgetRewind(engine: Uses<'store'>, branch: string): Promise<void> {
  await change(engine, branch, (states) => states.filter(({ kind }) => kind !== 'moved_back'));
}

/** `wrong` is null if the files are correct again. */
export async function noteFiles(
  engine: Uses<'store'>,
  branch: string,
  wrong: WrongFiles | null,
): Promise<void> {
  await change(engine, branch, (states) => [
    ...states.filter(({ kind }) => kind === 'moved_back'),
    ...(wrong === null ? [] : [wrong]),
  ]);
}

async function change(
  engine: Uses<'store'>,
  branch: string,
  to: (states: readonly WrongState[]) => readonly WrongState[],
): Promise<void> {
  const before = wrongStates(await readLine(engine.store.db, branch));
  if (before.length === 0 && to(before).length === 0) return;
  await engine.store.transaction(async (tx) => {
    const states = to(wrongStates(await readLine(tx, branch)));
    await setWrongStates(tx, engine.store.sources, branch, states);
  });
}

/**
 * Records that users moved the branch from `landed` to `target`, which lacks earlier landings. A
 * reset and an aborted rebase look the same here; only the user knows which it was.
 */
export async function recordRewind(
  engine: Uses<'git' | 'store'>,
  branch: string,
  landed: Sha,
  target: Sha,
): Promise<void> {
  const commits = await landingsLost(engine, landed, target);
  if (commits === 0) return;
  const ref = rescueRef(branch, landed);
  const state: WrongState = { kind: 'moved_back', commits, tip: landed, ref };
  await change(engine, branch, (states) => [
    state,
    ...states.filter(({ kind }) => kind !== 'moved_back'),
  ]);
}

async function landingsLost({ git }: Uses<'git'>, landed: Sha, target: Sha): Promise<number> {
  const gone = await git.lineCommits(target, landed, lineMax);
  const there = await git.lineCommits(landed, target, lineMax, 'all');
  if (!gone.ok || !there.ok) return 0;
  const present = new Set(there.value.map(landingMark));
  const lost = gone.value.filter((commit) => {
    const mark = landingMark(commit);
    return mark !== null && !present.has(mark);
  });
  if (lost.length === 0) return 0;
  const base = await git.mergeBase(landed, target);
  // A user's rebase gave them other commit ids.
  const isThere = base !== null && (await changesNothing({ git }, target, landed, base));
  return isThere ? 0 : lost.length;
}
