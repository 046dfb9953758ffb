// The merge that a person is advised to make by hand, and the alternative if a merge would restore
// commits that people have taken out.

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
 * "merge a into b by hand"; with the command if git refuses a plain one, because the first commit
 * of one of them was amended since.
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

/** Commits of a line that are looked through for those to be picked. */
const picksMax = 500;
const shortLength = 12;

/**
 * "run git cherry-pick … on b" if the line of `from` still has commits that people have taken out
 * of `into`: a merge would bring them back, silently. Each landing is picked with its message,
 * which identifies it again. Null if a merge brings back nothing.
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
 * A person has picked, as advised, everything on the line except the commits that were taken out of
 * the other branch.
 */
export async function isPicked(
  engine: Uses<'git' | 'store'>,
  from: Side,
  into: Side,
): Promise<boolean> {
  return (await landingsLeft(engine, from, into))?.length === 0;
}

/**
 * Landings of `from`, oldest first, of which `into` has neither the name nor the content. Returns
 * null if a merge restores no reverted work, or git could not tell.
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
  // If the tips of removed commits lie side by side, no single base can contain them all.
  const others = [base, into.tip, ...(await droppedFrom(engine, from.branch))];
  const left: Sha[] = [];
  for (const { sha, parents, trailers } of listed.value.toReversed()) {
    const [before, ...theirs] = parents;
    const mark = attemptMark(trailers);
    if (mark !== null && marks.includes(mark)) continue;
    // Commits that a take-in brought there belong to the other line, or were taken out of it.
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
 * The sentence of a task whose base lacks the commit of a blocker: the branch that has it, and the
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
