// Reads the commits of a line by their messages: which landings wait for the branch, which of them
// users already brought there, and how to repeat a landing.

import { attemptMark, trailer, type TrailerKind, trailerValue } from '../work/trailers.ts';

type Sha = string;

/** One commit of a first-parent line. */
export interface LineCommit {
  readonly sha: Sha;
  readonly parents: readonly Sha[];
  readonly subject: string;
  /** `Key: value`, as in the commit message. */
  readonly trailers: readonly string[];
}

/** Subject of a merge that includes users' commits on the branch. */
export function takeInSubject(branch: string): string {
  return `drover: take in ${branch}`;
}

/**
 * Returns W, oldest first. `since`: the commits of L that F lacks, newest first. Merges of users'
 * commits are not repeated, because the branch contains those commits or users removed them.
 */
export function waitingLandings<T extends LineCommit>(branch: string, since: readonly T[]): T[] {
  return since.filter(({ subject }) => subject !== takeInSubject(branch)).toReversed();
}

/** Landings that users brought into the branch as other commits. */
export interface Brought {
  /**
   * First-parent commits of T that L lacks, because a user may have cherry-picked or rebased a
   * landing.
   */
  readonly line: readonly LineCommit[];
  /** All commits of T that L lacks, because a user's merge may contain repeated landings. */
  readonly all: readonly LineCommit[];
}

/**
 * Drops landings that users already brought into the branch. Repeating one would conflict with the
 * users' version of it.
 */
export function withoutBrought<T extends LineCommit>(work: readonly T[], brought: Brought): T[] {
  const origins = new Set(brought.all.map(({ trailers }) => valueIn('was', trailers)));
  const picked = new Set(brought.line.map(({ trailers }) => attemptMark(trailers)));
  return work.filter((commit) => {
    const mark = attemptMark(commit.trailers);
    return !origins.has(originOf(commit)) && !(mark !== null && picked.has(mark));
  });
}

/** Trailers for a commit that repeats a landing. They identify the repeated landing. */
export function repeatedTrailers(commit: LineCommit): readonly string[] {
  const kept = commit.trailers.filter((each) => trailerValue('was', each) === null);
  // The merge of an epic identifies the epic's line by its second parent, which the repeated commit
  // does not have.
  const [, line] = commit.parents;
  const isEpic = valueIn('epic', kept) !== null && valueIn('tip', kept) === null;
  return [
    ...kept,
    ...(isEpic && line !== undefined ? [trailer('tip', line)] : []),
    trailer('was', originOf(commit)),
  ];
}

/** The id of the task or epic that the commit landed; null for other commits. */
export function landingMark({ trailers }: LineCommit): string | null {
  return attemptMark(trailers) ?? valueIn('epic', trailers);
}

/**
 * True if the messages show that Drover wrote these commits. After a power failure the store may
 * lack its last rows, so git is the second source for the tips that Drover wrote.
 */
export function bearOurHand(commits: readonly LineCommit[]): boolean {
  return commits.every(
    ({ subject, parents, trailers }) =>
      subject.startsWith('drover: ') &&
      (parents.length === 2 || trailers.some((line) => line.startsWith('Drover-'))),
  );
}

function originOf({ sha, trailers }: LineCommit): string {
  return valueIn('was', trailers) ?? sha;
}

function valueIn(kind: TrailerKind, trailers: readonly string[]): string | null {
  for (const each of trailers) {
    const value = trailerValue(kind, each);
    if (value !== null) return value;
  }
  return null;
}
