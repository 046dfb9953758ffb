// Git's result of a merge without a checkout.

import type { PathBytes } from '../../files/path-bytes.ts';
import type { Sha } from '../sha.ts';

/** A file that git could not merge: the blobs of both sides and of their base, if there is one. */
export interface MergeStages {
  readonly path: PathBytes;
  readonly mode: string;
  readonly base: Sha | null;
  readonly ours: Sha | null;
  readonly theirs: Sha | null;
}

export interface MergeAnswer {
  /** Contains conflict markers. */
  readonly tree: Sha;
  readonly conflicts: readonly MergeStages[];
}
