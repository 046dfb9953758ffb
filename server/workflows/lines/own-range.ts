// A task lands its own range. People amend, rebase and reset: commits that they removed from a
// branch must not come back with work that is based on them.

import { branchRef } from '../../core/work/ref-names.ts';
import { attemptTrailers, trailer, trailerValue } from '../../core/work/trailers.ts';
import type { GitResult, LineCommit, PeoplesTip } from '../../git/port.ts';
import { droppedTips, readLine } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import type { Sha } from '../../git/sha.ts';

/** Commits that are looked through for one that brought something in. */
export const lineMax = 5_000;

/**
 * The commit at which the work in `commit` starts for a merge into `head`, if people have removed
 * its base from the line; null: the merge base is right. `base`: the work's base, as far as it is
 * known.
 */
export async function ownBase(
  engine: Uses<'git' | 'store'>,
  line: string,
  work: { readonly head: Sha; readonly commit: Sha; readonly base: Sha | null },
): Promise<Sha | null> {
  const { git } = engine;
  const { head, commit, base } = work;
  const found: Sha[] = [];
  if (base !== null && !(await git.isAncestor(base, head))) found.push(base);
  for (const tip of await droppedFrom(engine, line)) {
    // What an agent has merged into its work on the way may have been taken out as well.
    const shared = await git.mergeBase(commit, tip);
    if (shared !== null && !(await git.isAncestor(shared, head))) found.push(shared);
  }
  for (const tip of await removedUnseen(engine, line, { commit, base })) {
    if (!(await git.isAncestor(tip, head))) found.push(tip);
  }
  const [first, ...others] = await newestOf(engine, found);
  if (first === undefined) return null;
  let whole = first;
  for (const other of others) whole = await bothBases(engine, whole, other);
  return withMerged(engine, whole, { head, commit });
}

/**
 * Commits that people had the branch at, and removed before Drover saw them there. The work holds
 * them, because its agent merged the branch in between.
 */
async function removedUnseen(
  engine: Uses<'git' | 'store'>,
  line: string,
  { commit, base }: { readonly commit: Sha; readonly base: Sha | null },
): Promise<readonly Sha[]> {
  const { git } = engine;
  const parent = (await readLine(engine.store.db, line))?.parent_branch ?? null;
  const found: Sha[] = [];
  for (const branch of parent === null ? [line] : [line, parent]) {
    const target = await git.readRef(branchRef(branch));
    if (target === null) continue;
    const tips = await git.peoplesTips(branch, base);
    const unseen = await heldOnlyBy(engine, commit, target, tips);
    for (const { sha, isMade } of unseen) {
      // People also try work in flight on their branch, and take it back: it is still to land.
      if (isMade || !(await isOwn(engine, sha, { commit, base }))) found.push(sha);
    }
  }
  return found;
}

/**
 * Those of the tips that the work holds and the branch no longer does. A branch's log can name
 * hundreds: git is asked once for all of them.
 */
async function heldOnlyBy(
  { git }: Uses<'git'>,
  commit: Sha,
  target: Sha,
  tips: readonly PeoplesTip[],
): Promise<readonly PeoplesTip[]> {
  if (tips.length === 0) return [];
  const listed = await git.lineCommits(target, commit, lineMax, 'all');
  const held = new Set(listed.ok ? listed.value.map(({ sha }) => sha) : []);
  return tips.filter(({ sha }) => held.has(sha));
}

/** Whether the work itself was at the commit, rather than merged it. */
async function isOwn(
  { git }: Uses<'git'>,
  sha: Sha,
  { commit, base }: { readonly commit: Sha; readonly base: Sha | null },
): Promise<boolean> {
  const own = await git.lineCommits(base, commit, lineMax);
  return own.ok && own.value.some((each) => each.sha === sha);
}

/** Without those that another one includes. */
async function newestOf({ git }: Uses<'git'>, commits: readonly Sha[]): Promise<readonly Sha[]> {
  let newest: readonly Sha[] = [];
  for (const each of commits) {
    const others: Sha[] = [];
    let isIncluded = false;
    for (const other of newest) {
      isIncluded ||= await git.isAncestor(each, other);
      if (!(await git.isAncestor(other, each))) others.push(other);
    }
    if (!isIncluded) newest = [...others, each];
  }
  return newest;
}

/**
 * A base that holds what either does, where people removed several commits that are not in one
 * history: with one of them as the base, the content of the other counts as the task's own work.
 */
async function bothBases(engine: Uses<'git'>, one: Sha, other: Sha): Promise<Sha> {
  const both = await engine.git.merge({
    tip: one,
    commit: other,
    subject: 'drover: begin',
    trailers: [],
    preferTip: true,
  });
  return both.ok && both.value.kind === 'merged' ? both.value.commit : one;
}

/**
 * If a person merged the line into the work by hand, the work contains both versions: as removed,
 * and as it is now. The work starts at both, or every line that they decided on would conflict once
 * more.
 */
async function withMerged(
  engine: Uses<'git'>,
  base: Sha,
  { head, commit }: { readonly head: Sha; readonly commit: Sha },
): Promise<Sha> {
  const { git } = engine;
  const joined = await git.mergeBase(commit, head);
  if (joined === null || (await git.isAncestor(joined, base))) return base;
  // Where both conflict, who merged has decided on that as well.
  return bothBases(engine, joined, base);
}

/** Tips that people have taken out of the line or of its parent. */
export async function droppedFrom(engine: Uses<'store'>, line: string): Promise<readonly Sha[]> {
  const known = await readLine(engine.store.db, line);
  const parent = known?.parent_branch ?? null;
  const above = parent === null ? null : await readLine(engine.store.db, parent);
  return [...new Set([...droppedTips(known), ...droppedTips(above)])];
}

/**
 * The commit with which a line's commit has landed on another line: itself, or one that landed it
 * without its history. Null: it has not.
 */
export async function landedWith(engine: Uses<'git'>, sha: Sha, target: Sha): Promise<Sha | null> {
  if (await engine.git.isAncestor(sha, target)) return sha;
  const listed = await engine.git.lineCommits(null, target, lineMax);
  if (!listed.ok) return null;
  const undone = new Set<string>();
  for (const { sha: commit, trailers } of listed.value) {
    for (const line of trailers) {
      const id = trailerValue('undo', line);
      if (id !== null) undone.add(id);
    }
    const held = trailers.map((line) => trailerValue('tip', line)).find((tip) => tip !== null);
    if (
      held === undefined ||
      held === null ||
      trailers.some((each) => undone.has(trailerValue('epic', each) ?? each))
    )
      continue;
    if (held === sha || (await engine.git.isAncestor(sha, held))) return commit;
  }
  return null;
}

/**
 * The oldest first-parent commit of `head` that holds the work, by its commit or by its trailers;
 * null: none does.
 */
export async function broughtInBy(
  engine: Uses<'git'>,
  head: Sha,
  work: {
    readonly taskId: string;
    readonly attempt: number;
    readonly commit: Sha;
    readonly base: Sha | null;
  },
): Promise<LineCommit | null> {
  const listed = await engine.git.lineCommits(work.base, head, lineMax);
  if (!listed.ok) return null;
  const line = listed.value.toReversed();
  const marks = attemptTrailers(work.taskId, work.attempt);
  if (!(await engine.git.isAncestor(work.commit, head)))
    return line.find(({ trailers }) => marks.every((mark) => trailers.includes(mark))) ?? null;
  const joined = line.find(
    ({ sha, parents }) => sha === work.commit || parents.slice(1).includes(work.commit),
  );
  if (joined !== undefined) return joined;
  // Once it is in, it stays in: the first that holds it is found by halving.
  let [low, high] = [0, line.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const isIn = await engine.git.isAncestor(work.commit, line[middle]?.sha ?? '');
    if (isIn) high = middle;
    else low = middle + 1;
  }
  return line[low] ?? null;
}

/**
 * A commit of the line with the trailers of the task and of the attempt that landed: people's
 * rebases and amends give a landing another id. An earlier attempt's landing is not this work, if
 * the task was reset and redone.
 */
export async function landedAgainAs(
  engine: Uses<'git'>,
  tip: Sha,
  task: {
    readonly id: string;
    /** Null: the task had no attempt of its own. */
    readonly attempt: number | null;
    readonly commit: Sha | null;
    readonly base: Sha | null;
  },
): Promise<Sha | null> {
  const listed = await engine.git.lineCommits(null, tip, lineMax);
  const marks =
    task.attempt === null ? [trailer('task', task.id)] : attemptTrailers(task.id, task.attempt);
  const named = listed.ok
    ? listed.value.find(({ trailers }) => marks.every((mark) => trailers.includes(mark)))
    : undefined;
  if (named !== undefined) return named.sha;
  if (task.commit === null || task.base === null) return null;
  return (await changesNothing(engine, tip, task.commit, task.base)) ? tip : null;
}

/** The same change is there already, under whatever name. */
export async function changesNothing(
  engine: Uses<'git'>,
  tip: Sha,
  commit: Sha,
  base: Sha,
): Promise<boolean> {
  const merged = await engine.git.merge({
    tip,
    commit,
    base,
    subject: 'drover: look',
    trailers: [],
  });
  const there: GitResult<Sha> = await engine.git.treeOf(tip);
  return (
    merged.ok && merged.value.kind === 'merged' && there.ok && there.value === merged.value.tree
  );
}
