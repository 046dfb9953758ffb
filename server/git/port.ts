// The git operations that workflows need. The real adapter runs git; the simulation has a second
// implementation. Every method is idempotent: it checks the current state and completes the missing
// steps.

import { Refusal, type Result } from '../core/failure.ts';
import type { WrongFiles } from '../core/work/wrong-state.ts';
import type { Merge, MergeConflict, MergeRequest } from './merge-port.ts';
import type {
  SnapshotRequest,
  Snapshot,
  SnapshotView,
  ChangeSize,
  RestoreRequest,
  RestoreOutcome,
} from './snapshot-port.ts';
import type { Sha } from './sha.ts';
import type {
  CommitLeftoversRequest,
  CommitLeftoversOutcome,
  SharedChange,
  SlotRequest,
  SlotOutcome,
  SetupRequest,
  SetupLook,
  WithIgnoredRequest,
  WithoutHeldRequest,
} from './slot-port.ts';

export interface GitFailure {
  readonly kind:
    | 'not_a_repository'
    | 'no_commit'
    | 'detached_head'
    | 'unknown_ref'
    | 'locked' // another process has a lock file (index.lock, ref lock); a retry may work
    | 'stale' // a compare-and-swap found another value
    | 'disk_full'
    | 'refused' // the server of a shared remote refused a push
    | 'unfilled' // a filter's program, or the remote of a partial clone, is missing
    | 'no_worktree' // the worktree's folder no longer exists, and neither does its work
    | 'foreign' // the folder does not belong to Drover; another one must be used
    | 'failed';
  readonly retryable: boolean;
  readonly message: string;
  /** A shared remote is unreachable: a temporary problem with an external cause. */
  readonly isAway?: true;
  /** An agent left a merge or rebase that only an agent or a person can finish. */
  readonly needsAgent?: true;
  /** The commit was made locally; only the remote does not have it. */
  readonly made?: CommitLeftoversOutcome;
}

export type GitResult<T> = Result<T, GitFailure>;

/** Thrown by queries whose result cannot carry a failure. Its kind is `git_failed`. */
export class GitRefusal extends Refusal {
  readonly failure: GitFailure;
  constructor(failure: GitFailure) {
    super('git', failure.message);
    this.name = 'GitRefusal';
    this.failure = failure;
  }
}

export interface RepositoryFacts {
  /** Real path of the common .git directory, which identifies a repository. */
  readonly commonDir: string;
  /** Root of the main checkout (the folder with `.drover/`). */
  readonly root: string;
  /** Branch checked out in `root`; null if HEAD is detached. */
  readonly headBranch: string | null;
  readonly headSha: Sha | null;
  readonly hasSubmodules: boolean;
  readonly usesLfs: boolean;
}

export type { Merge, MergeConflict, MergeRequest };

/** One commit of a first-parent line. */
export interface LineCommit {
  readonly sha: Sha;
  readonly parents: readonly Sha[];
  readonly tree: Sha;
  readonly subject: string;
  /** `Key: value`, as in the commit message. */
  readonly trailers: readonly string[];
}

export type FollowOutcome =
  /** The target branch is at the landing tip or beyond it. `wrong`: its checkout is not. */
  | { readonly kind: 'followed'; readonly sha: Sha; readonly wrong?: WrongFiles }
  /** The branch could not move; `commits` on the first-parent line wait. */
  | { readonly kind: 'pending'; readonly commits: number; readonly reason: string };

/** The result of moving one of Drover's branches. */
export type BranchMove =
  | { readonly kind: 'moved' }
  /** A worktree has it checked out and cannot be moved with it. */
  | { readonly kind: 'kept'; readonly reason: string };

export interface WorktreeStatus {
  /** HEAD of the worktree. */
  readonly head: Sha;
  /** The checked-out branch, or null. */
  readonly branch: string | null;
  /** Changed, staged and untracked (not ignored) paths relative to the worktree. */
  readonly changed: readonly string[];
  readonly untracked: readonly string[];
  /** Set only if `marksSince` requested it. */
  readonly unfinished?: UnfinishedWork;
}

/** An unfinished merge, rebase or similar operation in a worktree. */
export interface UnfinishedWork {
  readonly operation: 'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect' | null;
  /** Files with conflict markers that the commit did not contain. */
  readonly marked: readonly string[];
}

export interface RemoveRequest {
  readonly path: string;
  /** The owner of the work if the slot itself does not name it: `<task>/<attempt>`. */
  readonly label: string;
  /** Also removes files that cannot be kept and checked-out submodules. */
  readonly force: boolean;
}

export type RemoveOutcome =
  | { readonly kind: 'removed'; readonly keptRef: string | null }
  | { readonly kind: 'kept'; readonly reason: string };

export interface WorktreeEntry {
  readonly path: string;
  readonly head: Sha | null;
  readonly branch: string | null;
  readonly prunable: boolean;
}

/** All methods take absolute paths and full refs (`refs/heads/…`) unless noted otherwise. */
export interface GitRepository {
  readonly facts: RepositoryFacts;
  /** Reads HEAD, submodules and LFS again. */
  refresh(): Promise<GitResult<RepositoryFacts>>;
  /**
   * Returns null if it does not exist. Throws `GitRefusal` if that is unknown because a shared
   * remote is unreachable. `asOf` now: query the remote even if a recent answer is cached.
   */
  readRef(ref: string, asOf?: 'now'): Promise<Sha | null>;
  /** Full commit id of a revision (branch, tag, sha). Fails with `unknown_ref` otherwise. */
  resolve(revision: string): Promise<GitResult<Sha>>;
  /**
   * Compare-and-swap; `old` null = must not exist. Fails with `stale` if another process moved it
   * first. Succeeds if it already has the new value. `as` owner: a landing, refused unless this
   * process owns the line (`ownLine`).
   */
  updateRef(
    ref: string,
    next: Sha,
    old: Sha | null,
    reason: string,
    as?: 'owner',
  ): Promise<GitResult<void>>;
  /** Several refs in one transaction: creates, moves (with `old`) and deletes (`next` null). */
  updateRefs(
    changes: readonly { ref: string; next: Sha | null; old: Sha | null }[],
    reason: string,
  ): Promise<GitResult<void>>;
  /**
   * Takes the line, so that no other process can land on it. Called at the start of each execution
   * that lands. The previous owner can no longer land, even if its compare-and-swap would still
   * match.
   */
  ownLine(branch: string): Promise<GitResult<void>>;
  /**
   * Also returns false if a commit does not exist. Throws `GitRefusal` if a shared remote that may
   * have it is unreachable.
   */
  isAncestor(ancestor: Sha, descendant: Sha): Promise<boolean>;
  treeOf(commit: Sha): Promise<GitResult<Sha>>;

  /** Prepares the slot for a task: creates it if missing or damaged, otherwise reuses it. */
  prepareSlot(request: SlotRequest): Promise<GitResult<SlotOutcome>>;
  /** Whether a slot is in the setup state of its tree. If not, it is prepared for the setup. */
  lookAtSetup(request: SetupRequest): Promise<GitResult<SetupLook>>;
  /**
   * Called after the setup. Reverts its changes to tracked files and records the state in the
   * slot's private folder.
   */
  keepSetup(request: SetupRequest, look: SetupLook): Promise<GitResult<void>>;
  /** Records that the slot is set up. Ignored files written from now on belong to the attempt. */
  startWork(path: string): Promise<GitResult<void>>;
  /** `marksSince`: also report unfinished operations and markers relative to this commit. */
  status(path: string, marksSince?: Sha): Promise<GitResult<WorktreeStatus>>;
  /** In a fleet the commit is also pushed. If that fails, the failure contains the local commit. */
  commitLeftovers(request: CommitLeftoversRequest): Promise<GitResult<CommitLeftoversOutcome>>;
  /**
   * Changes since the slot was prepared or since the last call. Empty if its agent was confined.
   */
  sharedChanges(path: string): Promise<readonly SharedChange[]>;
  /**
   * In a fleet, pushes an attempt's branch at a commit that this clone or the remote has, so that
   * every machine can fetch it. Does nothing otherwise. Fails with `unknown_ref` if neither has the
   * commit.
   */
  publish(branch: string, commit: Sha): Promise<GitResult<void>>;
  /**
   * Keeps HEAD, the index and all files of a worktree that git does not ignore, without changing
   * any of them. Returns null if it contains only its base (for the reason `interval`, only the
   * attempt's branch).
   */
  snapshot(request: SnapshotRequest): Promise<GitResult<Snapshot | null>>;
  /**
   * The last snapshot of an attempt; null if none. `anywhere`: in a fleet, includes snapshots that
   * other machines pushed.
   */
  lastSnapshot(label: string, where?: 'anywhere'): Promise<GitResult<SnapshotView | null>>;
  /** A snapshot by its commit. */
  snapshotAt(commit: Sha): Promise<GitResult<SnapshotView>>;
  /** All snapshots of a task's attempts, oldest first. Stops at the bases. */
  listSnapshots(taskId: string, bases: readonly Sha[]): Promise<GitResult<readonly SnapshotView[]>>;
  /** The size of the difference between two commits. */
  sizeOfChange(from: Sha, to: Sha): Promise<GitResult<ChangeSize>>;
  /** Restores files and index of a snapshot on top of the slot's commit. */
  restore(request: RestoreRequest): Promise<GitResult<RestoreOutcome>>;
  /**
   * Makes a commit part of an attempt's snapshots, before its branch moves or is deleted. Resolves
   * with their ref.
   */
  keepCommit(commit: Sha, label: string): Promise<GitResult<string>>;
  /** The only way to delete worktrees. */
  removeWorktree(request: RemoveRequest): Promise<GitResult<RemoveOutcome>>;
  listWorktrees(): Promise<GitResult<readonly WorktreeEntry[]>>;

  /** Merges without touching a checkout, using merge-tree and commit-tree. Parents: tip, commit. */
  merge(request: MergeRequest): Promise<GitResult<Merge | MergeConflict>>;
  /** Files in which git could not merge the two commits. Writes only objects. */
  conflicts(one: Sha, other: Sha): Promise<GitResult<readonly string[]>>;
  /**
   * Moves a target branch to the landing tip: by compare-and-swap if it is not checked out,
   * otherwise by git's own `merge --ff-only` in its checkout, whose uncommitted state is kept
   * first. Never forces and never touches a branch during a rebase. `seen`: the branch's tip when
   * the move was decided. Fails with `stale` if a user has moved it since.
   */
  follow(
    target: string,
    tip: Sha,
    mode: 'fast-forward' | 'never',
    seen?: Sha | null,
  ): Promise<GitResult<FollowOutcome>>;
  /** The problems in the checkout of a branch that moved between these commits. */
  lookAfter(branch: string, from: Sha, to: Sha): Promise<WrongFiles | null>;
  /**
   * Fixes such a state at the user's request, without overwriting changes. Resolves with the
   * remaining problems.
   */
  cure(branch: string, wrong: WrongFiles): Promise<GitResult<WrongFiles | null>>;
  /**
   * Moves, creates (`from` null) or deletes (`next` null) one of Drover's branches, if its value is
   * `from` (otherwise `stale`). If a worktree has it checked out, that worktree is fast-forwarded
   * or the branch stays.
   */
  moveBranch(branch: string, next: Sha | null, from: Sha | null): Promise<GitResult<BranchMove>>;
  /** The branch that a name refers to, after following symbolic refs. */
  canonicalBranch(branch: string): Promise<string>;
  /** Unified diff between two commits. `paths`: only these files. */
  diff(from: Sha, to: Sha, paths?: readonly string[]): Promise<GitResult<string>>;
  /**
   * Paths that differ between two commits. For an attempt's work, includes paths that were changed
   * and reverted. `counting`: only files in which this text occurs more or less often than before.
   */
  changedPaths(from: Sha, to: Sha, counting?: string): Promise<GitResult<readonly string[]>>;
  /** Files that differ between two commits, with renames detected. */
  changedFiles(from: Sha, to: Sha): Promise<GitResult<readonly ChangedFile[]>>;
  /** Names of files and folders at the root of a commit. */
  namesAtRoot(commit: Sha): Promise<GitResult<readonly string[]>>;
  /** A file in a commit (path from the root, with forward slashes); null if it does not exist. */
  fileAt(commit: Sha, path: string, bytesMax: number): Promise<GitResult<FileAtCommit | null>>;
  /**
   * The work of base…commit as one commit on the base, without held files and their history.
   * Returns the commit itself if it has none, and null if nothing is left.
   */
  withoutHeld(request: WithoutHeldRequest): Promise<GitResult<Sha | null>>;
  /** A commit on the given one that adds ignored files kept by a snapshot. Refuses secrets. */
  withIgnored(request: WithIgnoredRequest): Promise<GitResult<Sha>>;
  /** A commit on top of the given one with its first parent's content. No ref names it yet. */
  revertOf(request: {
    readonly commit: Sha;
    readonly subject: string;
    readonly trailers: readonly string[];
  }): Promise<GitResult<Sha>>;
  /**
   * First-parent commits (or all commits) of `to` that `from` (null = nothing) does not contain,
   * newest first, at most `limit`.
   */
  lineCommits(
    from: Sha | null,
    to: Sha,
    limit: number,
    which?: 'first-parent' | 'all',
  ): Promise<GitResult<readonly LineCommit[]>>;
  /**
   * A best common ancestor. Null if there is none or a commit does not exist. Throws `GitRefusal`
   * if git could not tell.
   */
  mergeBase(one: Sha, two: Sha): Promise<Sha | null>;
  /** Whether the shared remote answers this machine. Null if the repository has none. */
  readonly sharedRemote: RemoteHealth | null;
  /** Number of git processes started so far (for benchmarks and tests). */
  readonly processCount: number;
}

export interface RemoteHealth {
  /** Since when it is unreachable (Unix ms). Null if it last responded. */
  readonly awaySinceMs: number | null;
  /** Checks whether it responds now and updates `awaySinceMs`. Runs at most one check at a time. */
  probe(): Promise<void>;
}

export interface ChangedFile {
  readonly path: string;
  /** The former path of a renamed or copied file. */
  readonly oldPath: string | null;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed' | 'copied' | 'type_changed';
}

export interface FileAtCommit {
  readonly size: number;
  /** Null if it is larger than requested. */
  readonly bytes: Uint8Array | null;
}

export interface GitAdapter {
  /** Opens the repository of `path`. The failure says that there is none or that git is too old. */
  open(path: string): Promise<GitResult<GitRepository>>;
  version(): Promise<GitResult<string>>;
}
