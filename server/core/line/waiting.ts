// The commits of a line, read by their messages: which are landings that wait for the branch, which
// of them people have brought there themselves, and how a landing is repeated.

import { attemptMark, trailer, type TrailerKind, trailerValue } from '../work/trailers.ts';

type Sha = string;

/** One commit of a first-parent line. */
export interface LineCommit {
  readonly sha: Sha;
  readonly parents: readonly Sha[];
  readonly subject: string;
  /** `Key: value`, as in the message. */
  readonly trailers: readonly string[];
}

/** Subject of a merge that takes in commits that people made on the branch. */
export function takeInSubject(branch: string): string {
  return `drover: take in ${branch}`;
}

/**
 * W, oldest first. `since`: the commits of L that F lacks, newest first. Merges of people's commits
 * are repeated by nothing: the branch holds those commits, or people removed them.
 */
export function landingsIn<T extends LineCommit>(branch: string, since: readonly T[]): T[] {
  return since.filter(({ subject }) => subject !== takeInSubject(branch)).toReversed();
}

/** Landings that people have brought into the branch as another commit. */
export interface Brought {
  /** First-parent commits of T that L lacks: a person picked or rebased a landing. */
  readonly line: readonly LineCommit[];
  /** All commits of T that L lacks: repeated landings may be in a person's merge. */
  readonly all: readonly LineCommit[];
}

/** Repeating a landing that people brought would conflict with the way in which they settled it. */
export function withoutBrought<T extends LineCommit>(work: readonly T[], brought: Brought): T[] {
  const origins = new Set(brought.all.map(({ trailers }) => valueIn('was', trailers)));
  const picked = new Set(brought.line.map(({ trailers }) => attemptMark(trailers)));
  return work.filter((commit) => {
    const mark = attemptMark(commit.trailers);
    return !origins.has(originOf(commit)) && !(mark !== null && picked.has(mark));
  });
}

/** For the commit that repeats a landing: it is known again by the landing that it repeats. */
export function repeatedTrailers(commit: LineCommit): readonly string[] {
  const kept = commit.trailers.filter((each) => trailerValue('was', each) === null);
  // The merge of an epic names the epic's line by its second parent, which the repeat has not.
  const [, line] = commit.parents;
  const isEpic = valueIn('epic', kept) !== null && valueIn('tip', kept) === null;
  return [
    ...kept,
    ...(isEpic && line !== undefined ? [trailer('tip', line)] : []),
    trailer('was', originOf(commit)),
  ];
}

/** The task or the epic that the commit landed; null for other commits. */
export function landingMark({ trailers }: LineCommit): string | null {
  return attemptMark(trailers) ?? valueIn('epic', trailers);
}

/**
 * True if the commits are Drover's by their form. A power cut may have lost the last rows of the
 * store: git is the second source for the tips that Drover wrote.
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
