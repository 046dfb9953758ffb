// Checks, file by file, whether work decides its conflicts with earlier landings.

import { err, ok } from '../../core/failure.ts';
import type { Undecided } from '../../core/plan/verdict.ts';
import {
  conflictStart,
  countMarked,
  type MergeFault,
  mergeFault,
  type MergeSides,
} from '../../core/work/merge-faults.ts';
import type { CommitLeftoversOutcome } from '../../git/slot-port.ts';
import { attemptsSince, type Claim } from '../../store/port.ts';
import { type GitResult, GitRefusal } from '../../git/port.ts';
import type { Sha } from '../../git/sha.ts';
import type { Uses } from './engine-ports.ts';

/** An attempt's commit, with the facts known when it is submitted. */
export interface CommittedWork extends CommitLeftoversOutcome {
  /** Null or absent if the task had no conflict, or if its work decides all of them. */
  readonly undecided?: Undecided | null;
}

/** Maximum number of files searched for added conflict markers. */
const markedFilesMax = 200;

/** Larger files are not compared; their conflicts count as decided. */
const fileBytesMax = 4 * 1024 * 1024;

/**
 * The commits of both sides of a merge, and of their base. The base is null if they have no common
 * history.
 */
export interface MergeCommits {
  readonly base: Sha | null;
  readonly landed: Sha;
  readonly task: Sha;
}

/** A version of a file. Undefined if it is not text or too large to compare. */
type Version = string | null | undefined;

/** Returns null if the text decides every conflict of the file, or if a version is not text. */
export async function faultOfFile(
  engine: Uses<'git'>,
  { base, landed, task }: MergeCommits,
  path: string,
  result: string | null,
): Promise<MergeFault | null> {
  const versions: Version[] = [];
  for (const commit of [base, landed, task])
    versions.push(commit === null ? null : await versionAt(engine, commit, path));
  if (versions.includes(undefined)) return null;
  const [inBase = null, inLanded = null, inTask = null] = versions;
  const sides: MergeSides = { base: inBase, landed: inLanded, task: inTask };
  return mergeFault(sides, result);
}

/**
 * Adds conflicts that the work left undecided, which a person must see before the commit lands.
 * Includes work that only could not be pushed, because it lands without another attempt.
 */
export async function withUndecided(
  engine: Uses<'git' | 'store'>,
  claim: Pick<Claim, 'taskId' | 'attempt'>,
  base: Sha,
  made: GitResult<CommitLeftoversOutcome>,
): Promise<GitResult<CommittedWork>> {
  const work = made.ok ? made.value : made.error.made;
  if (work === undefined || !work.changed) return made;
  const left = await undecidedConflicts(engine, claim, base, work.commit);
  const { marked = [], asBase = [] } = left ?? {};
  const added = await addedMarks(engine, base, work.commit);
  const undecided = { marked: [...new Set([...marked, ...added])], asBase };
  if (undecided.marked.length + asBase.length === 0) return made;
  const checked: CommittedWork = { ...work, undecided };
  return made.ok ? ok(checked) : err({ ...made.error, made: checked });
}

/** Files to which the work adds conflict markers. Markers in its base do not count. */
async function addedMarks(engine: Uses<'git'>, base: Sha, commit: Sha): Promise<readonly string[]> {
  const paths = await engine.git.changedPaths(base, commit, conflictStart);
  if (!paths.ok) throw new GitRefusal(paths.error);
  const marked: string[] = [];
  for (const path of paths.value.slice(0, markedFilesMax)) {
    const now = await versionAt(engine, commit, path);
    if (typeof now !== 'string' || countMarked(now) === 0) continue;
    const before = await versionAt(engine, base, path);
    if (countMarked(before ?? '') < countMarked(now)) marked.push(path);
  }
  return marked;
}

/**
 * Checks an attempt after a conflict. Landing an undecided conflict would revert earlier landings.
 * Returns null if the task had no conflict or decided all of them.
 */
async function undecidedConflicts(
  engine: Uses<'git' | 'store'>,
  { taskId, attempt }: Pick<Claim, 'taskId' | 'attempt'>,
  landed: Sha,
  commit: Sha,
): Promise<Undecided | null> {
  const attempts = await attemptsSince(engine.store.db, taskId, 0);
  const conflicting = attempts.findLast(
    (each) => each.number < attempt && each.failure_kind === 'conflict' && each.commit_sha !== null,
  );
  const task = conflicting?.commit_sha ?? null;
  if (task === null || (await engine.git.isAncestor(task, landed))) return null;
  const merged = await engine.git.merge({ tip: landed, commit: task, subject: '', trailers: [] });
  if (!merged.ok || merged.value.kind !== 'conflict') return null;
  const sides = { base: await engine.git.mergeBase(landed, task), landed, task };
  const marked: string[] = [];
  const asBase: string[] = [];
  for (const path of merged.value.files) {
    const result = await versionAt(engine, commit, path);
    const fault = result === undefined ? null : await faultOfFile(engine, sides, path, result);
    if (fault?.kind === 'marks') marked.push(path);
    if (fault?.kind === 'undecided') asBase.push(path);
  }
  return marked.length + asBase.length === 0 ? null : { marked, asBase };
}

async function versionAt(engine: Uses<'git'>, commit: Sha, path: string): Promise<Version> {
  const read = await engine.git.fileAt(commit, path, fileBytesMax);
  if (!read.ok) throw new GitRefusal(read.error);
  if (read.value === null) return null;
  const { bytes } = read.value;
  if (bytes === null || bytes.includes(0)) return undefined;
  return new TextDecoder().decode(bytes);
}
