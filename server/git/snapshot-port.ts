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
  | 'limit' // limit of an account or a budget
  | 'blocked'
  | 'conflict'
  | 'review'
  | 'death' // the agent, or the backend with it, was killed
  | 'taken_over' // before or after a person worked in it
  | 'plan' // written while planning
  | 'found' // in a slot before its next use
  | 'ignored' // files that git ignores, of an attempt that ended well
  | 'nested' // commits of a repository inside the worktree
  | 'follow' // before a checkout of the user follows its branch
  | 'dropped' // commits that an agent left behind: by a reset, an amend or a rebase
  | 'kept'; // commits that a branch was about to lose

export type SnapshotAuthor = 'agent' | 'person' | 'unknown';

export interface SnapshotRequest {
  readonly path: string;
  /**
   * `<task>/<attempt>`: the snapshots of an attempt are under `refs/drover/work/<task>/<attempt>`.
   */
  readonly label: string;
  readonly reason: SnapshotReason;
  readonly author: SnapshotAuthor;
  /**
   * Commit that the attempt started from; no snapshot is taken of a worktree that is still at it,
   * without changes.
   */
  readonly base: Sha | null;
  /**
   * The clone may be lost with its machine: the snapshot then also holds the commits of its
   * branches and stashes.
   */
  readonly forOthers?: boolean;
}

export interface Snapshot {
  readonly ref: string;
  readonly commit: Sha;
  /** False if the last snapshot has this state already. */
  readonly isNew: boolean;
}

export interface SnapshotView {
  readonly commit: Sha;
  /** `<task>/<attempt>`. */
  readonly label: string;
  readonly reason: SnapshotReason;
  readonly author: SnapshotAuthor;
  readonly timeMs: number;
  /** Commit of the worktree. */
  readonly head: Sha | null;
  /** Full ref of the branch that was checked out, or null. */
  readonly branch: string | null;
}

export interface ChangeSize {
  readonly files: number;
  readonly insertions: number;
  readonly deletions: number;
}

export interface RestoreRequest {
  /** A slot that holds nothing but its HEAD. */
  readonly path: string;
  /** A snapshot. */
  readonly commit: Sha;
}

export type RestoreOutcome =
  | { readonly kind: 'restored' }
  /** It conflicts with the slot's commit; nothing was changed. */
  | { readonly kind: 'conflict' }
  /** Something else is in the slot; nothing was changed. */
  | { readonly kind: 'occupied' };
