// The options of a merge without a checkout, and its result.

import type { Sha } from './sha.ts';

export interface Merge {
  readonly kind: 'merged';
  readonly commit: Sha;
  readonly tree: Sha;
  /**
   * Names that are new to the tip and that some systems cannot check out, with the reason by path.
   */
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
   * The commit that the work in `commit` starts from, if that is not the merge base of the two
   * histories. Only the changes since then are merged, and the tip is the only parent.
   */
  readonly base?: Sha | null;
  /** Parents of the new commit, if they differ from the usual ones. */
  readonly parents?: readonly Sha[];
  /**
   * Contents with which a person resolved conflicts, by path; null removes the file. Files that are
   * not listed stay in conflict.
   */
  readonly settled?: ReadonlyMap<string, string | null>;
  /**
   * If true, the merge never conflicts: the tip's version of a file wins, and histories without a
   * common commit are merged too.
   */
  readonly preferTip?: boolean;
  /** If true, fills `Merge.unportable`. */
  readonly portableNames?: boolean;
  readonly subject: string;
  /** `Key: value` lines after the subject. */
  readonly trailers: readonly string[];
}
