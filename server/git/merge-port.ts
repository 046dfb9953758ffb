// The options of a merge without a checkout, and its result.

import type { Sha } from './sha.ts';

export interface Merge {
  readonly kind: 'merged';
  readonly commit: Sha;
  readonly tree: Sha;
  /** Names new to the tip that not every system can check out: path → why. */
  readonly unportable?: Readonly<Record<string, string>>;
}

export interface MergeConflict {
  readonly kind: 'conflict';
  readonly files: readonly string[];
}

export interface MergeRequest {
  readonly tip: Sha;
  readonly commit: Sha;
  /**
   * The start of the work in `commit`, if that is not the merge base of both histories: then only
   * the difference to it is merged, and the tip is the only parent.
   */
  readonly base?: Sha | null;
  /** Parents of the new commit, if they are not those above. */
  readonly parents?: readonly Sha[];
  /**
   * Contents by which a person has settled conflicts, by path; null takes a file out. A file that
   * is not among them stays a conflict.
   */
  readonly settled?: ReadonlyMap<string, string | null>;
  /**
   * If true, there are no conflicts: the tip's version of a file wins, and histories without a
   * common commit are merged too.
   */
  readonly preferTip?: boolean;
  /** If true, fills `Merge.unportable`. */
  readonly portableNames?: boolean;
  readonly subject: string;
  /** Lines `Key: value` after the subject. */
  readonly trailers: readonly string[];
}
