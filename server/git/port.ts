// The git operations that workflows need. The real adapter runs the git binary; the simulation has
// a second implementation. Every method is idempotent: it checks the current state first and
// completes the missing steps.

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
    | 'locked' // another process holds a lock file (index.lock, ref lock); a later try may work
    | 'stale' // a compare-and-swap found another value
    | 'disk_full'
    | 'refused' // the server of a shared remote checked a push and refused it
    | 'unfilled' // a program of git's filters, or the remote of a partial clone, is missing
    | 'no_worktree' // the folder of the worktree no longer exists, nor does work in it
    | 'foreign' // the folder is not ours to use; another one must be used
    | 'failed';
  readonly retryable: boolean;
  readonly message: string;
  /** A shared remote is unreachable now: a temporary problem that nothing here caused. */
  readonly isAway?: true;
  /** An agent left a merge or a rebase that only an agent or a person can finish. */
  readonly needsAgent?: true;
  /** The commit was made here all the same; only the remote does not have it. */
  readonly made?: CommitLeftoversOutcome;
}

export type GitResult<T> = Result<T, GitFailure>;

/** Thrown by questions whose answers have no place for a failure, as `git_failed`. */
export class GitRefusal extends Refusal {
  readonly failure: GitFailure;
  constructor(failure: GitFailure) {
    super('git', failure.message);
    this.name = 'GitRefusal';
    this.failure = failure;
  }
}

export interface RepositoryFacts {
  /** Real path of the common .git directory: the key of a repository. */
  readonly commonDir: string;
  /** Root of the main checkout (the folder that holds `.drover/`). */
  readonly root: string;
  /** Branch checked out in `root`, or null when HEAD is detached. */
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
  /** `Key: value`, as in the message. */
  readonly trailers: readonly string[];
}

export type FollowOutcome =
  /** The target branch now is at the landing tip; `wrong`: its checkout is not. */
  | { readonly kind: 'followed'; readonly sha: Sha; readonly wrong?: WrongFiles }
  /** It could not move; `commits` on the first-parent line wait. */
  | { readonly kind: 'pending'; readonly commits: number; readonly reason: string };

/** The result of moving a branch of Drover's own. */
export type BranchMove =
  | { readonly kind: 'moved' }
  /** A worktree has it checked out and cannot be brought along. */
  | { readonly kind: 'kept'; readonly reason: string };

export interface WorktreeStatus {
  /** HEAD of the worktree. */
  readonly head: Sha;
  /** Branch checked out there, or null. */
  readonly branch: string | null;
  /** Changed, staged and untracked (not ignored) paths relative to the worktree. */
  readonly changed: readonly string[];
  readonly untracked: readonly string[];
  /** Only if marks were asked for. */
  readonly unfinished?: UnfinishedWork;
}

/** A merge, rebase or the like that is open in a worktree. */
export interface UnfinishedWork {
  readonly operation: 'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect' | null;
  /** Files with the markers of a conflict that were not there at the commit. */
  readonly marked: readonly string[];
}

export interface RemoveRequest {
  readonly path: string;
  /** The owner of the work if the slot itself does not name it: `<task>/<attempt>`. */
  readonly label: string;
  /**
   * Refs that count as "kept": HEAD must be reachable from one of them, else a snapshot is made
   * first.
   */
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
   * remote is unreachable. `asOf` now: asks the remote even if there is a recent answer.
   */
  readRef(ref: string, asOf?: 'now'): Promise<Sha | null>;
  /** Full commit id of a revision (branch, tag, sha); `unknown_ref` otherwise. */
  resolve(revision: string): Promise<GitResult<Sha>>;
  /**
   * Compare-and-swap; `old` null = must not exist. `stale` if another process moved it first; if it
   * already has the new value: ok. `as` owner: a landing, refused unless this process owns the line
   * (`ownLine`).
   */
  updateRef(
    ref: string,
    next: Sha,
    old: Sha | null,
    reason: string,
    as?: 'owner',
  ): Promise<GitResult<void>>;
  /** Several refs in one transaction: creates, moves (old given) and deletes (next null). */
  updateRefs(
    changes: readonly { ref: string; next: Sha | null; old: Sha | null }[],
    reason: string,
  ): Promise<GitResult<void>>;
  /**
   * Takes the line, so that no other process can land on it: called at the start of each execution
   * that lands. The previous owner can no longer land, even if its compare-and-swap would still
   * match.
   */
  ownLine(branch: string): Promise<GitResult<void>>;
  /**
   * Also false if a commit does not exist. Throws `GitRefusal` if a shared remote that may have it
   * is unreachable.
   */
  isAncestor(ancestor: Sha, descendant: Sha): Promise<boolean>;
  treeOf(commit: Sha): Promise<GitResult<Sha>>;

  /**
   * Makes the slot ready for a task: created if missing or damaged, else re-used. Serialized if git
   * races.
   */
  prepareSlot(request: SlotRequest): Promise<GitResult<SlotOutcome>>;
  /**
   * Whether a slot is in the setup state of its tree; one that is not is prepared for the setup.
   */
  lookAtSetup(request: SetupRequest): Promise<GitResult<SetupLook>>;
  /**
   * After the setup: its changes to tracked files are reverted, the state is recorded in the slot's
   * private folder.
   */
  keepSetup(request: SetupRequest, look: SetupLook): Promise<GitResult<void>>;
  /** The slot is set up: ignored files that are written from now on are the attempt's. */
  startWork(path: string): Promise<GitResult<void>>;
  /** `marksSince`: whether something is unfinished there, compared with this commit. */
  status(path: string, marksSince?: Sha): Promise<GitResult<WorktreeStatus>>;
  /** In a fleet the commit is also pushed; if that fails, the failure contains the local commit. */
  commitLeftovers(request: CommitLeftoversRequest): Promise<GitResult<CommitLeftoversOutcome>>;
  /** Since the slot was prepared, or the last call; empty if its agent was confined. */
  sharedChanges(path: string): Promise<readonly SharedChange[]>;
  /**
   * In a fleet: pushes the branch of an attempt, at a commit that this clone or the remote has, so
   * that every machine finds it. Without a fleet it does nothing. `unknown_ref`: neither has the
   * commit.
   */
  publish(branch: string, commit: Sha): Promise<GitResult<void>>;
  /**
   * Keeps HEAD, the index and all files of a worktree that git does not ignore, without changing
   * any of them. Returns null if it holds nothing but its base (for the reason `interval`, nothing
   * but the attempt's branch).
   */
  snapshot(request: SnapshotRequest): Promise<GitResult<Snapshot | null>>;
  /**
   * The last snapshot of an attempt, or null. `anywhere`: in a fleet also one that only another
   * machine has made, and pushed.
   */
  lastSnapshot(label: string, where?: 'anywhere'): Promise<GitResult<SnapshotView | null>>;
  /** One snapshot by its commit. */
  snapshotAt(commit: Sha): Promise<GitResult<SnapshotView>>;
  /**
   * All snapshots of a task's attempts, oldest first, without searching the commits of the bases.
   */
  listSnapshots(taskId: string, bases: readonly Sha[]): Promise<GitResult<readonly SnapshotView[]>>;
  /** How much two commits differ. */
  sizeOfChange(from: Sha, to: Sha): Promise<GitResult<ChangeSize>>;
  /** Restores files and index of a snapshot on top of the slot's commit. */
  restore(request: RestoreRequest): Promise<GitResult<RestoreOutcome>>;
  /**
   * Makes a commit part of an attempt's snapshots, before its branch moves or goes; resolves with
   * their ref.
   */
  keepCommit(commit: Sha, label: string): Promise<GitResult<string>>;
  /** The one deleter of worktrees. */
  removeWorktree(request: RemoveRequest): Promise<GitResult<RemoveOutcome>>;
  listWorktrees(): Promise<GitResult<readonly WorktreeEntry[]>>;

  /** Merges without touching any checkout: merge-tree and commit-tree. Parents: tip, commit. */
  merge(request: MergeRequest): Promise<GitResult<Merge | MergeConflict>>;
  /** Files in which git could not merge the two commits; nothing is written but objects. */
  conflicts(one: Sha, other: Sha): Promise<GitResult<readonly string[]>>;
  /**
   * Lets a target branch follow the landing tip: compare-and-swap if it is checked out nowhere,
   * git's own `merge --ff-only` in the checkout that holds it, which is kept before if it holds
   * more than its commit. Never forces, never touches a branch that is in the middle of a rebase.
   * `seen`: the tip of the branch when it was decided that it may follow; `stale` when a person has
   * moved it since.
   */
  follow(
    target: string,
    tip: Sha,
    mode: 'fast-forward' | 'never',
    seen?: Sha | null,
  ): Promise<GitResult<FollowOutcome>>;
  /** The problems in the checkout of a branch that has moved from one commit to the other. */
  lookAfter(branch: string, from: Sha, to: Sha): Promise<WrongFiles | null>;
  /**
   * Fixes such a state at the user's request, never over their changes. Resolves with the problems
   * that remain.
   */
  cure(branch: string, wrong: WrongFiles): Promise<GitResult<WrongFiles | null>>;
  /**
   * Moves, makes (`from` null) or deletes (`next` null) a branch of Drover's own, from exactly the
   * value `from` (`stale` otherwise) and never under a worktree that has it checked out: there it
   * is fast-forwarded, or kept.
   */
  moveBranch(branch: string, next: Sha | null, from: Sha | null): Promise<GitResult<BranchMove>>;
  /** The branch that a name means, at the end of any chain of symbolic refs. */
  canonicalBranch(branch: string): Promise<string>;
  /** Unified diff between two commits; `paths`: of these files alone. */
  diff(from: Sha, to: Sha, paths?: readonly string[]): Promise<GitResult<string>>;
  /**
   * Paths that differ between two commits; of the work of an attempt also such as were changed and
   * changed back. `counting`: only files in which this text occurs more or less often than before.
   */
  changedPaths(from: Sha, to: Sha, counting?: string): Promise<GitResult<readonly string[]>>;
  /** Files that differ between two commits, renames found. */
  changedFiles(from: Sha, to: Sha): Promise<GitResult<readonly ChangedFile[]>>;
  /** Names of files and folders at the root of a commit. */
  namesAtRoot(commit: Sha): Promise<GitResult<readonly string[]>>;
  /** A file in a commit (a path from the root, with slashes); null if it does not exist. */
  fileAt(commit: Sha, path: string, bytesMax: number): Promise<GitResult<FileAtCommit | null>>;
  /**
   * The work of base…commit in one commit on the base, without held files and their history; the
   * commit itself when it has none, null when nothing is left.
   */
  withoutHeld(request: WithoutHeldRequest): Promise<GitResult<Sha | null>>;
  /** A commit on the given one with ignored files that a snapshot keeps; secrets are refused. */
  withIgnored(request: WithIgnoredRequest): Promise<GitResult<Sha>>;
  /**
   * A commit on top of the given one that reverts it to its first parent's content. No ref names it
   * yet.
   */
  revertOf(request: {
    readonly commit: Sha;
    readonly subject: string;
    readonly trailers: readonly string[];
  }): Promise<GitResult<Sha>>;
  /**
   * First-parent commits of `to` (or all of its commits) that `from` (null: nothing) does not
   * contain, newest first, at most `limit`.
   */
  lineCommits(
    from: Sha | null,
    to: Sha,
    limit: number,
    which?: 'first-parent' | 'all',
  ): Promise<GitResult<readonly LineCommit[]>>;
  /**
   * A best common ancestor; null if there is none, or a commit does not exist. Throws `GitRefusal`
   * if git could not tell.
   */
  mergeBase(one: Sha, two: Sha): Promise<Sha | null>;
  /** Whether the shared remote answers this machine. Null if the repository has none. */
  readonly sharedRemote: RemoteHealth | null;
  /** Number of git processes started so far (bench and tests). */
  readonly processCount: number;
}

export interface RemoteHealth {
  /** When it stopped answering (Unix ms). Null if it answered last time. */
  readonly awaySinceMs: number | null;
  /**
   * Checks whether it answers now, with at most one check at a time; `awaySinceMs` has the result.
   */
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
  /** Null when it is larger than was asked for. */
  readonly bytes: Uint8Array | null;
}

export interface GitAdapter {
  /** Opens the repository of `path`; refuses with a sentence if there is none or git is too old. */
  open(path: string): Promise<GitResult<GitRepository>>;
  version(): Promise<GitResult<string>>;
}
