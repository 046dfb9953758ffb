// The data that the landing of a batch passes between steps. All of it is stored as JSON.

import type { Failure } from '../../core/failure.ts';
import type { RedBase } from '../../core/plan/block-cause.ts';
import type { LandingRow } from '../../store/port.ts';
import type { GateVerdict } from './gate.ts';
import type { Sha } from '../../git/sha.ts';

export interface Merged {
  readonly row: LandingRow;
  readonly commit: Sha;
  readonly tree: Sha;
}

export interface Unmergeable {
  readonly row: LandingRow;
  readonly failure: Failure;
}

/** Work that a person must see before it lands. */
export interface HeldWork {
  readonly row: LandingRow;
  readonly reason: string;
  /** Absent for work that cannot be merged. */
  readonly kind?: 'reviewed';
}

/** The result of one check of a batch, stored before the line moves. */
export interface LandingBatch {
  readonly tip: Sha;
  /** The state of the branch that it includes besides the tip. */
  readonly includes?: Sha | null;
  /** The commit onto which the first task is merged. Absent in steps of earlier releases. */
  readonly start?: Sha;
  /** The work that the verdict covers: the first rows of the waiting ones. */
  readonly merged: readonly Merged[];
  /** The line's tip after they have landed. */
  readonly next?: Sha;
  readonly conflicts: readonly { readonly row: LandingRow; readonly files: readonly string[] }[];
  /**
   * Work that git cannot merge at all, for example because its history lacks the base. Each row is
   * returned separately.
   */
  readonly unmergeable?: readonly Unmergeable[];
  /** Absent in steps stored by earlier releases. */
  readonly held?: readonly HeldWork[];
  readonly verdict:
    | GateVerdict
    | { readonly kind: 'none' }
    /** No decision yet, because new work joins the batch. */
    | { readonly kind: 'more' }
    /** The work is red, but so is the commit that it was merged onto. */
    | {
        readonly kind: 'red_base';
        readonly failure: Failure;
        /** Absent in steps stored by earlier releases. */
        readonly red?: RedBase;
      };
  readonly problem: Failure | null;
}

export type Moved =
  | { readonly kind: 'moved' | 'again' }
  | { readonly kind: 'failed'; readonly reason: Failure };

export const nothingBuilt = {
  tip: '',
  merged: [],
  conflicts: [],
  verdict: { kind: 'none' as const },
};
