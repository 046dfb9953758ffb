// The landed work that waits for its branch, and the states of the branch that the line includes
// with it. People amend, rebase and reset in the meantime: what they removed from the branch must
// not come back with the work.

import { trailerValue } from '../../core/work/trailers.ts';
import { ok } from '../../core/failure.ts';
import type { GitResult, LineCommit } from '../../git/port.ts';
import { droppedTips, noteDropped, readLine, takenAmong } from '../../store/port.ts';
import { branchRef } from '../../core/work/ref-names.ts';
import { keepTip } from './line-holds.ts';
import { noteMovedBack } from './wrong-states.ts';
import { lineMax } from './own-range.ts';
import type { Uses } from '../kit/engine-ports.ts';
import type { Sha } from '../../git/sha.ts';

export function takeInSubject(branch: string): string {
  return `drover: take in ${branch}`;
}

export interface Waiting {
  /** Landed work that the branch does not hold yet, newest first: Drover's commits alone. */
  readonly work: readonly LineCommit[];
  /** Where people had the branch when the line included it, since it was last followed. */
  readonly theirs: readonly Sha[];
}

export async function waitingOn(
  engine: Uses<'git' | 'store'>,
  branch: string,
  { followed, tip }: { followed: Sha | null; tip: Sha },
): Promise<GitResult<Waiting>> {
  const listed = await engine.git.lineCommits(followed, tip, lineMax);
  if (!listed.ok) return listed;
  const shas = listed.value.map(({ sha }) => sha);
  const taken = await takenAmong(engine.store.db, branch, shas);
  const work: LineCommit[] = [];
  const theirs: Sha[] = [];
  for (const commit of listed.value) {
    const { sha, parents, subject, trailers } = commit;
    // Everything below it was in the branch then: it is there, or was removed.
    if (taken.has(sha)) {
      theirs.push(sha);
      break;
    }
    const [before, other] = parents;
    if (other !== undefined && subject === takeInSubject(branch)) {
      theirs.push(other);
      continue;
    }
    work.push(commit);
    if (before === undefined || !trailers.some((each) => trailerValue('onto', each) !== null))
      continue;
    theirs.push(before);
    break;
  }
  return ok({ work, theirs });
}

/** How much landed work the branch does not hold yet. */
export async function countWaiting(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tip: Sha,
): Promise<number> {
  const known = await readLine(engine.store.db, branch);
  const followed = known?.followed_sha ?? null;
  const waits = await waitingOn(engine, branch, { followed, tip });
  return waits.ok ? waits.value.work.length : 0;
}

/**
 * Where the branch is now, if the line at `tip` includes commits that people had on the branch and
 * that are not in it any more: following would bring them back. They are noted as removed. Null:
 * there are none.
 */
export async function rewrittenTo(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tip: Sha,
): Promise<Sha | null> {
  const known = await readLine(engine.store.db, branch);
  if (known === null || known.followed_sha === null || known.followed_sha === tip) return null;
  const target = await engine.git.readRef(branchRef(branch), 'now');
  if (target === null || (await engine.git.isAncestor(tip, target))) return null;
  const followed = known.followed_sha;
  const waits = await waitingOn(engine, branch, { followed, tip });
  let found = false;
  for (const seen of new Set([followed, ...(waits.ok ? waits.value.theirs : [])])) {
    if (await engine.git.isAncestor(seen, target)) continue;
    if (!(await engine.git.isAncestor(seen, tip))) continue;
    found = true;
    if (droppedTips(known).includes(seen)) continue;
    await keepTip(engine, branch, seen, 'drover: rewritten');
    await engine.store.transaction((tx) => noteDropped(tx, branch, seen));
    if (seen === followed) await noteMovedBack(engine, branch, seen, target);
  }
  return found ? target : null;
}
