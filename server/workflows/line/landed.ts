// Finds the commit under which work has landed. It may differ from the original one, because users
// rebase, amend and cherry-pick.

import { landingRef } from '../../core/work/ref-names.ts';
import { attemptTrailers, trailer, trailerValue } from '../../core/work/trailers.ts';
import type { LineCommit } from '../../git/port.ts';
import type { Sha } from '../../git/sha.ts';
import { lastAttempt, recordNewLandedCommit, readLine } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { lineMax } from './facts.ts';

/**
 * Updates the commits under which the blockers' work is on the line. Returns true if any has
 * changed.
 */
export async function updateLandedCommits(
  engine: Uses<'git' | 'store'>,
  line: string,
  blockers: readonly {
    readonly id: string;
    readonly sha: Sha;
    readonly commit_sha: Sha | null;
    readonly base_sha: Sha | null;
  }[],
): Promise<boolean> {
  const parent = (await readLine(engine.store.db, line))?.parent_branch ?? null;
  let isFound = false;
  for (const branch of parent === null ? [line] : [line, parent]) {
    const tip = await engine.git.readRef(landingRef(branch));
    if (tip === null) continue;
    for (const { id, sha, commit_sha: commit, base_sha: base } of blockers) {
      if (await engine.git.isAncestor(sha, tip)) continue;
      const attempt = await lastAttempt(engine.store.db, id);
      const task = { id, attempt: attempt?.number ?? null, commit, base };
      const again =
        (await landedAgainAs(engine, tip, task)) ?? (await findCommitOnLine(engine, sha, tip));
      if (again === null || again === sha) continue;
      isFound = true;
      const landed = { was: sha, sha: again, branch };
      await engine.store.transaction((tx) => recordNewLandedCommit(tx, id, landed));
    }
  }
  return isFound;
}

/**
 * The commit with which a line's commit has landed on another line: the same commit, or one that
 * landed it without its history. Returns null if it has not landed.
 */
export async function findCommitOnLine(
  engine: Uses<'git'>,
  sha: Sha,
  target: Sha,
): Promise<Sha | null> {
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
 * The oldest first-parent commit of `head` that contains the work, found by commit id or trailers.
 * Returns null if no commit does.
 */
export async function findLandedCommit(
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
  // Work that is in one commit is in all later ones, so a binary search finds the first.
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
 * A commit of the line with the trailers of the task and the attempt that landed, because a rebase
 * or an amend changes the commit's id. If the task was reset and redone, an earlier attempt's
 * landing does not count.
 */
export async function landedAgainAs(
  engine: Uses<'git'>,
  tip: Sha,
  task: {
    readonly id: string;
    /** Null if the task had no attempt of its own. */
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

/** Whether the same change already exists, under any commit id. */
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
  const there = await engine.git.treeOf(tip);
  return (
    merged.ok && merged.value.kind === 'merged' && there.ok && there.value === merged.value.tree
  );
}
