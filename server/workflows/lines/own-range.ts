// A task lands its own range. People amend, rebase and reset: commits that they removed from a
// branch must not come back with work that is based on them, whether that work waits to land, has
// landed and waits for the branch, or is continued.

import { attemptTrailers, trailer, trailerValue } from '../../core/work/trailers.ts';
import type { GitResult, LineCommit } from '../../git/port.ts';
import { droppedTips, noteDropped, readLine } from '../../store/port.ts';
import { gitFailed } from '../kit/git-trouble.ts';
import { branchRef, resultBranch } from '../../core/work/ref-names.ts';
import { isTakenBackUnseen, keepTip } from './line-holds.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { err, failure, ok, type Result } from '../../core/failure.ts';
import type { Sha } from '../../git/sha.ts';

/** Commits that are looked through for one that brought something in. */
const lineMax = 5_000;

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
  let best: Sha | null = null;
  for (const each of found) {
    if (best === null || (await git.isAncestor(best, each))) best = each;
  }
  return best === null ? null : withMerged(engine, best, { head, commit });
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
  const both = await git.merge({
    tip: joined,
    commit: base,
    subject: 'drover: begin',
    trailers: [],
    // Where both conflict, who merged has decided on that as well.
    preferTip: true,
  });
  return both.ok && both.value.kind === 'merged' ? both.value.commit : joined;
}

/** Tips that people have taken out of the line or of its parent. */
export async function droppedFrom(engine: Uses<'store'>, line: string): Promise<readonly Sha[]> {
  const known = await readLine(engine.store.db, line);
  const parent = known?.parent_branch ?? null;
  const above = parent === null ? null : await readLine(engine.store.db, parent);
  return [...new Set([...droppedTips(known), ...droppedTips(above)])];
}

/**
 * True when people have rewritten the branch although landed work waits for it: the line at `tip`
 * holds commits of theirs that are not in the branch any more. What they took out is noted.
 */
export async function isRewritten(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tip: Sha,
): Promise<boolean> {
  let known = await readLine(engine.store.db, branch);
  if (known === null || known.followed_sha === null || known.followed_sha === known.landed_sha)
    return false;
  const target = await engine.git.readRef(branchRef(branch), 'now');
  if (target === null) return false;
  if (
    !(await engine.git.isAncestor(known.followed_sha, target)) &&
    (await isTakenBackUnseen(engine, known, target))
  )
    known = await readLine(engine.store.db, branch);
  if (known === null || known.followed_sha === null) return false;
  const waits = await waitingOn(engine, branch, known.followed_sha, tip);
  let found = false;
  for (const seen of new Set([known.followed_sha, ...(waits.ok ? waits.value.takenIn : [])])) {
    if (await engine.git.isAncestor(seen, target)) continue;
    if (!(await engine.git.isAncestor(seen, tip))) continue;
    found = true;
    if (droppedTips(known).includes(seen)) continue;
    await keepTip(engine, branch, seen, 'drover: rewritten');
    await engine.store.transaction((tx) => noteDropped(tx, branch, seen));
  }
  return found;
}

interface Waiting {
  /** Landed work that the branch does not hold yet, newest first. */
  readonly work: readonly LineCommit[];
  /** Tips of the branch that the line has merged since it was last followed. */
  readonly takenIn: readonly Sha[];
}

export function takeInSubject(branch: string): string {
  return `drover: take in ${branch}`;
}

async function waitingOn(
  engine: Uses<'git'>,
  branch: string,
  followed: Sha | null,
  tip: Sha,
): Promise<GitResult<Waiting>> {
  const listed = await engine.git.lineCommits(followed, tip, lineMax);
  if (!listed.ok) return listed;
  const work: LineCommit[] = [];
  const takenIn: Sha[] = [];
  for (const commit of listed.value) {
    const { parents, subject, trailers } = commit;
    const [before, theirs] = parents;
    if (theirs !== undefined && subject === takeInSubject(branch)) {
      takenIn.push(theirs);
      continue;
    }
    work.push(commit);
    if (before === undefined || !trailers.some((each) => trailerValue('onto', each) !== null))
      continue;
    takenIn.push(before);
    break;
  }
  return ok({ work, takenIn });
}

/** How much landed work the branch does not hold yet. */
export async function countWaiting(
  engine: Uses<'git' | 'store'>,
  branch: string,
  tip: Sha,
): Promise<number> {
  const known = await readLine(engine.store.db, branch);
  const waits = await waitingOn(engine, branch, known?.followed_sha ?? null, tip);
  return waits.ok ? waits.value.work.length : 0;
}

/**
 * The landed work that waits, each task's own change again on top of what people have made of the
 * branch.
 */
export async function replayOnto(
  engine: Uses<'git' | 'store'>,
  branch: string,
  target: Sha,
  tip: Sha,
): Promise<Result<Sha>> {
  const known = await readLine(engine.store.db, branch);
  const waiting = await waitingOn(engine, branch, known?.followed_sha ?? null, tip);
  if (!waiting.ok) return err(gitFailed(waiting.error));
  let head = target;
  for (const { sha, parents, subject, trailers: found } of waiting.value.work.toReversed()) {
    const base = parents[0] ?? null;
    const trailers = found.filter((each) => trailerValue('onto', each) === null);
    if (head === target) trailers.push(trailer('onto', target));
    const merged = await engine.git.merge({ tip: head, commit: sha, base, subject, trailers });
    if (!merged.ok) return err(gitFailed(merged.error));
    if (merged.value.kind === 'conflict') {
      const files = merged.value.files.join(', ');
      return err(
        failure(
          'conflict',
          `${branch} was rewritten while landed work waits for it, and both change ${files}; copy what you want of ${resultBranch(branch)} by hand (git cherry-pick -m 1), then merge nothing else of it`,
        ),
      );
    }
    const before = await engine.git.treeOf(head);
    if (!before.ok || before.value !== merged.value.tree) head = merged.value.commit;
  }
  return ok(head);
}

/**
 * Whether a line's commit has landed on another line: as itself, or as a part of what landed
 * without its history.
 */
export async function isLandedOn(engine: Uses<'git'>, sha: Sha, target: Sha): Promise<boolean> {
  if (await engine.git.isAncestor(sha, target)) return true;
  const listed = await engine.git.lineCommits(null, target, lineMax);
  if (!listed.ok) return false;
  const undone = new Set<string>();
  for (const { trailers } of listed.value) {
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
    if (held === sha || (await engine.git.isAncestor(sha, held))) return true;
  }
  return false;
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
