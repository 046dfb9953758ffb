// States of branches and checkouts that Drover reports: files that are not those of the commit, and
// landed work that a reset or an aborted rebase took off a branch.

import { MadeOnce } from '../../core/made-once.ts';
import { branchRef, rescueRef } from '../../core/work/ref-names.ts';
import { attemptMark, trailerValue } from '../../core/work/trailers.ts';
import type { WrongFiles, WrongState } from '../../core/work/wrong-state.ts';
import type { LineCommit } from '../../git/port.ts';
import type { Sha } from '../../git/sha.ts';
import {
  type LineRow,
  type Reads,
  readLine,
  setWrongStates,
  wrongStates,
} from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { changesNothing, lineMax } from './own-range.ts';

interface Step {
  readonly from: Sha;
  readonly to: Sha;
}

/** Branches that have just moved: a command that ran then may have ended after the check. */
const justMoved = new MadeOnce<Reads, Map<string, Step>>();

/** `wrong`: what the check right after the move has found. */
export async function noteMoved(
  engine: Uses<'git' | 'store'>,
  branch: string,
  step: Step,
  wrong: WrongFiles | null,
): Promise<void> {
  justMoved.of(engine.store.db, () => new Map()).set(branch, step);
  if (wrong !== null) await noteFiles(engine, branch, wrong);
}

/** How many rounds pass before states that are known are checked again. */
const roundsMax = 15;

/** Checks branches that have moved since the last round once more, and states that are reported. */
export async function checkWrongStates(
  engine: Uses<'git' | 'store'>,
  lines: readonly LineRow[],
  round: number,
): Promise<void> {
  const moved = justMoved.of(engine.store.db, () => new Map());
  const steps = [...moved];
  moved.clear();
  for (const [branch, { from, to }] of steps)
    await noteFiles(engine, branch, await engine.git.lookAfter(branch, from, to));
  for (const line of lines) {
    for (const state of wrongStates(line)) {
      if (state.kind === 'moved_back') await forgetIfBack(engine, line.branch, state.tip);
      else if (round % roundsMax === 0)
        await noteFiles(
          engine,
          line.branch,
          await engine.git.lookAfter(line.branch, state.from, state.to),
        );
    }
  }
}

async function forgetIfBack(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tip: Sha,
): Promise<void> {
  const target = await engine.git.readRef(branchRef(branch));
  if (target !== null && (await engine.git.isAncestor(tip, target)))
    await forgetMovedBack(engine, branch);
}

export async function forgetMovedBack(engine: Uses<'store'>, branch: string): Promise<void> {
  await change(engine, branch, (states) => states.filter(({ kind }) => kind !== 'moved_back'));
}

/** Null: nothing is wrong with the files any more. */
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
 * People have moved the branch from `landed` to `target`, which lacks landings that it had. A reset
 * and an aborted rebase look the same: the user knows which it was.
 */
export async function noteMovedBack(
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
  const present = new Set(there.value.map(({ trailers }) => markOf(trailers)));
  const lost = gone.value.filter(({ trailers }) => {
    const mark = markOf(trailers);
    return mark !== null && !present.has(mark);
  });
  if (lost.length === 0) return 0;
  const base = await git.mergeBase(landed, target);
  // A rebase of the user's has given them other commits.
  const isThere = base !== null && (await changesNothing({ git }, target, landed, base));
  return isThere ? 0 : lost.length;
}

function markOf(trailers: LineCommit['trailers']): string | null {
  const epic = trailers.map((each) => trailerValue('epic', each)).find((id) => id !== null);
  return attemptMark(trailers) ?? epic ?? null;
}
