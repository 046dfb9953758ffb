// Advises a person how to merge by hand, or how to avoid restoring commits that users removed.

import type { Uses } from '../kit/engine-ports.ts';
import type { Sha } from '../../git/sha.ts';
import { attemptMark } from '../../core/work/trailers.ts';
import { lineMax } from './facts.ts';
import { changesNothing } from './landed.ts';
import { droppedFrom, ownBaseOfLine } from './range.ts';
import { branchRef, landingRef, resultBranch } from '../../core/work/ref-names.ts';

interface Side {
  readonly branch: string;
  readonly tip: Sha;
}

/**
 * "merge a into b by hand". Includes the command if git refuses a plain merge because the first
 * commit of one branch was amended.
 */
export async function handMerge(
  engine: Uses<'git'>,
  from: Side,
  into: Side,
  how = ' by hand',
): Promise<string> {
  const advice = `merge ${from.branch} into ${into.branch}${how}`;
  const isRelated = (await engine.git.mergeBase(from.tip, into.tip)) !== null;
  return isRelated
    ? advice
    : `${advice} (git merge --allow-unrelated-histories ${from.branch}: they share no commit)`;
}

/** Maximum number of commits searched for those to cherry-pick. */
const picksMax = 500;
const shortLength = 12;

/**
 * "run git cherry-pick … on b", if the line of `from` still has commits that users removed from
 * `into`, because a merge would silently restore them. Each landing is picked with its message,
 * which identifies it. Returns null if a merge restores nothing.
 */
export async function handPick(
  engine: Uses<'git' | 'store'>,
  from: Side,
  into: Side,
): Promise<string | null> {
  const picks = await landingsLeft(engine, from, into);
  if (picks === null || picks.length === 0) return null;
  const named = picks.map((sha) => sha.slice(0, shortLength)).join(' ');
  return `run git cherry-pick -m 1 ${named} on ${into.branch} (a merge of ${from.branch} brings back what was taken out of ${into.branch})`;
}

/**
 * Whether a person has cherry-picked everything on the line except the commits that were removed
 * from the other branch.
 */
export async function isPicked(
  engine: Uses<'git' | 'store'>,
  from: Side,
  into: Side,
): Promise<boolean> {
  return (await landingsLeft(engine, from, into))?.length === 0;
}

/**
 * Landings of `from`, oldest first, that `into` has neither by name nor by content. Returns null if
 * a merge restores no removed work, or if git could not tell.
 */
async function landingsLeft(
  engine: Uses<'git' | 'store'>,
  from: Side,
  into: Side,
): Promise<readonly Sha[] | null> {
  const base = await ownBaseOfLine(engine, from.branch, { head: into.tip, commit: from.tip });
  if (base === null) return null;
  const listed = await engine.git.lineCommits(base, from.tip, picksMax);
  if (!listed.ok) return null;
  const there = await engine.git.lineCommits(base, into.tip, lineMax);
  const marks = there.ok ? there.value.map(({ trailers }) => attemptMark(trailers)) : [];
  // If removed tips are not ancestors of each other, no single base contains them all.
  const others = [base, into.tip, ...(await droppedFrom(engine, from.branch))];
  const left: Sha[] = [];
  for (const { sha, parents, trailers } of listed.value.toReversed()) {
    const [before, ...theirs] = parents;
    const mark = attemptMark(trailers);
    if (mark !== null && marks.includes(mark)) continue;
    // Commits that came from the other line by a merge belong to that line, or were removed from
    // it.
    if (before === undefined || (await isAnyIn(engine, theirs, others))) continue;
    if (await changesNothing(engine, into.tip, sha, before)) continue;
    left.push(sha);
  }
  return left;
}

async function isAnyIn(
  { git }: Uses<'git'>,
  commits: readonly Sha[],
  tips: readonly Sha[],
): Promise<boolean> {
  for (const commit of commits) {
    for (const tip of tips) if (commit === tip || (await git.isAncestor(commit, tip))) return true;
  }
  return false;
}

/**
 * Explains that a task's base lacks the commit of a blocker: the branch that has it, and the
 * remedy.
 */
export async function missingBase(
  engine: Uses<'git' | 'store'>,
  taskId: string,
  blocker: { readonly id: string; readonly sha: Sha; readonly landedOn: string | null },
  line: string,
): Promise<string> {
  const { where, remedy } = await whereIs(engine, blocker, line);
  return `the commit of its blocker ${blocker.id} ${where}; ${remedy}, then drover resolve ${taskId}`;
}

async function whereIs(
  engine: Uses<'git' | 'store'>,
  {
    id,
    sha,
    landedOn,
  }: { readonly id: string; readonly sha: Sha; readonly landedOn: string | null },
  line: string,
): Promise<{ readonly where: string; readonly remedy: string }> {
  const gone = { where: `is no longer in ${landedOn ?? line}`, remedy: `reset ${id}` };
  if (landedOn === null || landedOn === line) return gone;
  const { git } = engine;
  for (const branch of [landedOn, resultBranch(landedOn)]) {
    const tip = await git.readRef(branchRef(branch));
    if (tip === null || (tip !== sha && !(await git.isAncestor(sha, tip)))) continue;
    const from = { branch, tip };
    const into = { branch: line, tip: (await git.readRef(landingRef(line))) ?? tip };
    const remedy =
      (await handPick(engine, from, into)) ?? (await handMerge(engine, from, into, ''));
    return { where: `is on ${branch}, not in ${line}`, remedy };
  }
  return gone;
}
