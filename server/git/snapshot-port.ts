// The part of the port that keeps and restores work.

import type { Sha } from './sha.ts';

/** Why a snapshot was made. */
export type SnapshotReason =
  | 'interval' // while an agent runs
  | 'end' // the agent ended
  | 'failed'
  | 'timeout'
  | 'paused'
  | 'stopped' // Ctrl-C, or the end of the run
  | 'cancelled'
  | 'limit' // a limit of an account or a budget was reached
  | 'blocked'
  | 'conflict'
  | 'review'
  | 'death' // the agent, possibly with the backend, was killed
  | 'taken_over' // before or after a person worked in the worktree
  | 'plan' // files written while planning
  | 'found' // found in a slot before its next use
  | 'ignored' // ignored files of an attempt that succeeded
  | 'nested' // commits of a repository inside the worktree
  | 'follow' // before a user's checkout follows its branch
  | 'dropped' // commits that an agent dropped by a reset, an amend or a rebase
  | 'kept'; // commits that a branch was about to lose

export type SnapshotAuthor = 'agent' | 'person' | 'unknown';

export interface SnapshotRequest {
  readonly path: string;
  /**
   * `<task>/<attempt>`. The snapshots of an attempt are under `refs/drover/work/<task>/<attempt>`.
   */
  readonly label: string;
  readonly reason: SnapshotReason;
  readonly author: SnapshotAuthor;
  /**
   * The commit that the attempt started from. A worktree that is unchanged at it gets no snapshot.
   */
  readonly base: Sha | null;
  /**
   * The clone may be lost with its machine, so the snapshot also includes the commits of its
   * branches and stashes.
   */
  readonly forOthers?: boolean;
}

export interface Snapshot {
  readonly ref: string;
  readonly commit: Sha;
  /** False if the last snapshot already has this state. */
  readonly isNew: boolean;
}

export interface SnapshotView {
  readonly commit: Sha;
  /** `<task>/<attempt>`. */
  readonly label: string;
  readonly reason: SnapshotReason;
  readonly author: SnapshotAuthor;
  readonly timeMs: number;
  /** The worktree's commit. */
  readonly head: Sha | null;
  /** Full ref of the checked-out branch, or null. */
  readonly branch: string | null;
}

export interface ChangeSize {
  readonly files: number;
  readonly insertions: number;
  readonly deletions: number;
}

export interface RestoreRequest {
  /** A slot that matches its HEAD. */
  readonly path: string;
  /** The commit of a snapshot. */
  readonly commit: Sha;
}

export type RestoreOutcome =
  | { readonly kind: 'restored' }
  /** The snapshot conflicts with the slot's commit; nothing was changed. */
  | { readonly kind: 'conflict' }
  /** The slot contains other content; nothing was changed. */
  | { readonly kind: 'occupied' };
