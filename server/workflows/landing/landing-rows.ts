// Answers two questions about a row of the landing queue: is it still valid, and has git already
// landed it?

import { firstLineOf } from '../../core/format.ts';
import { attemptTrailers } from '../../core/work/trailers.ts';
import { failure, type Failure } from '../../core/failure.ts';
import type { GitResult, Merge, MergeConflict } from '../../git/port.ts';
import { readAttempt, type LandingRow, taskById, type TaskRow } from '../../store/port.ts';
import { findLandedCommit } from '../line/landed.ts';
import { ownBase, removedInWork } from '../line/range.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { wordsOfMissing } from '../attempt/refused-work.ts';
import type { Sha } from '../../git/sha.ts';

/** A row of the queue, with the facts about its work. */
export interface QueuedWork {
  readonly row: LandingRow;
  readonly title: string;
  readonly isApproved: boolean;
  /** The commit that its attempt started from, and when (Unix ms). */
  readonly base: Sha | null;
  readonly startedMs: number | null;
}

export async function readQueuedWork(
  { store }: Uses<'store'>,
  row: LandingRow,
): Promise<QueuedWork> {
  const [attempt, task] = [
    await readAttempt(store.db, row.task_id, row.attempt),
    await taskById(store.db, row.task_id),
  ];
  return {
    row,
    title: firstLineOf(task?.title ?? ''),
    isApproved: task?.status === 'needs_review',
    base: attempt?.base_sha ?? null,
    startedMs: attempt?.started_at_ms ?? null,
  };
}

/**
 * Finds work that git has landed although the rows do not say so: a power failure may have lost the
 * last rows, or a person may have merged work by hand before it was approved. Returns the commit
 * that brought the work into `head`, with the tree of `head`, or null. Only checks work that
 * started before this process took it over or that needed an approval; for other work, the rows are
 * complete.
 */
export async function landedBefore(
  engine: Uses<'earlierUntilMs' | 'git' | 'store'>,
  { row, isApproved, base, startedMs }: QueuedWork,
  head: Sha,
): Promise<{ readonly commit: Sha; readonly tree: Sha } | null> {
  if (startedMs === null) return null;
  const isOurs = startedMs > engine.earlierUntilMs && !isApproved;
  if (isOurs) return null;
  const { task_id: taskId, attempt, commit_sha: commit } = row;
  const brought = await findLandedCommit(engine, head, { taskId, attempt, commit, base });
  if (brought === null) return null;
  const tree = await engine.git.treeOf(head);
  return tree.ok ? { commit: brought.sha, tree: tree.value } : null;
}

/**
 * Explains why a person must decide: the agent merged a commit that users have removed from the
 * branch since, and only a person knows whether the work is correct without it. Returns null if no
 * such commit exists, or if a person approved the work.
 */
export async function whyHeld(
  engine: Uses<'git' | 'store'>,
  { row, isApproved, base }: QueuedWork,
  line: string,
  head: Sha,
): Promise<string | null> {
  if (isApproved) return null;
  const removed = await removedInWork(engine, line, { head, commit: row.commit_sha, base });
  if (removed === null) return null;
  return `brings back commit ${removed.slice(0, 12)}, which its agent merged and which was removed from the branch since`;
}

/** Merges the row's work onto `head`, as the single commit that represents the task on the line. */
export async function mergeRow(
  engine: Uses<'git' | 'settings'>,
  { row, title, base }: QueuedWork,
  head: Sha,
): Promise<GitResult<Merge | MergeConflict>> {
  return engine.git.merge({
    tip: head,
    commit: row.commit_sha,
    // If people have removed the base from the line, only the changes since the start of the work
    // are merged.
    base: await ownBase(engine, { head, commit: row.commit_sha, base }),
    portableNames: engine.settings().portableNames,
    subject: `drover: ${row.task_id} ${title}`,
    trailers: attemptTrailers(row.task_id, row.attempt),
  });
}

/**
 * A failure that only affects this row and not the others of its batch. Returns null for a git
 * problem that no task caused.
 */
export async function whyUnmergeable(
  engine: Uses<'git' | 'store'>,
  { row, base }: QueuedWork,
  head: Sha,
): Promise<Failure | null> {
  const { commit_sha: commit, task_id: taskId, attempt } = row;
  if (!(await isWithinReach(engine, commit))) {
    // The task continues from its work if that is available, otherwise it starts over.
    return failure(
      'interrupted',
      await wordsOfMissing(engine.store.db, { taskId, attempt, commit }),
    );
  }
  for (const sha of [commit, head]) {
    // This process's cached data about a commit does not prove that git can still read it.
    const read = await engine.git.lineCommits(null, sha, 1);
    if (!read.ok) return null;
  }
  if ((await engine.git.mergeBase(commit, head)) !== null) return null;
  // Users amended the root commit, so the work merges with a base of its own.
  if ((await ownBase(engine, { head, commit, base })) !== null) return null;
  return failure(
    'agent_failed',
    `The work of ${row.task_id} is on an unrelated history, without the commit that it started from, so it cannot be merged.`,
  );
}

/**
 * Refuses added names of two tasks that macOS or Windows would treat as one file. The later task is
 * returned, with both names. Returns null if no names collide.
 */
export function namesRefused({ unportable = {} }: Merge): Failure | null {
  const names = Object.entries(unportable).map(([path, why]) => `${path} (${why})`);
  if (names.length === 0) return null;
  const message = `on what has landed, the work adds names that cannot be checked out on every system: ${names.slice(0, namesMax).join(', ')}. Rename them`;
  return failure('conflict', message);
}

const namesMax = 5;

/**
 * Returns false if neither this clone nor the remote has the commit. Another machine made it, and
 * it must be made again.
 */
export async function isWithinReach(engine: Uses<'git'>, commit: Sha): Promise<boolean> {
  const tree = await engine.git.treeOf(commit);
  return tree.ok || tree.error.kind !== 'unknown_ref';
}

/** True while the row belongs to the task's current attempt and the task waits for it. */
export function isLanding(
  task: Pick<TaskRow, 'epoch' | 'status'> | null,
  row: LandingRow,
): boolean {
  return (
    task !== null &&
    task.epoch === row.epoch &&
    ['in_progress', 'needs_review'].includes(task.status)
  );
}
