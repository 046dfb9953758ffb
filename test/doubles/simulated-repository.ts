// The state of the simulated repository: refs, the person's checkout and Drover's worktrees, and
// all atomic operations on them. The port on top of it adds time and crashes.

import type { SimulatedClock } from './simulated-clock.ts';
import { changedBetween, type Files, GitObjects } from './simulated-git-objects.ts';
import type { Sha } from '../../server/git/sha.ts';

export type Actor = 'drover' | 'agent' | 'person';

export interface RefMove {
  readonly ref: string;
  readonly old: Sha | null;
  readonly next: Sha | null;
  readonly by: Actor;
  readonly reason: string;
}

export interface RepositoryObserver {
  /** Called after the moves of one transaction. */
  refsMoved(moves: readonly RefMove[]): void;
  /**
   * Drover replaces the files of a worktree; if `after` is null, the worktree is removed. Called
   * before it happens.
   */
  filesReplaced(path: string, before: Files, after: Files | null): void;
}

export interface SimulatedWorktree {
  readonly path: string;
  /** Full ref, or null for a detached HEAD. */
  branch: string | null;
  detachedAt: Sha | null;
  files: Map<string, string>;
  /** The owner of its work: `<task>/<attempt>`. */
  owner: string;
}

export interface RefChange {
  readonly ref: string;
  readonly next: Sha | null;
  readonly old: Sha | null;
}

export class SimulatedRepository {
  readonly objects = new GitObjects();
  readonly refs = new Map<string, Sha>();
  readonly worktrees = new Map<string, SimulatedWorktree>();
  /** The setup of each worktree, which is removed with the worktree. */
  readonly setups = new WeakMap<SimulatedWorktree, string>();
  readonly root: string;
  readonly clock: SimulatedClock;
  /** The previous values of each ref, oldest first. */
  observer: RepositoryObserver = { refsMoved: () => undefined, filesReplaced: () => undefined };

  constructor(root: string, clock: SimulatedClock) {
    this.root = root;
    this.clock = clock;
    const first = this.commit(new Map([['README', 'first']]), [], 'first', 'person');
    this.refs.set('refs/heads/main', first);
    this.worktrees.set(root, {
      path: root,
      branch: 'refs/heads/main',
      detachedAt: null,
      files: new Map(this.objects.filesOf(first)),
      owner: 'person/0',
    });
  }

  get checkout(): SimulatedWorktree {
    return this.worktrees.get(this.root) as SimulatedWorktree;
  }

  commit(
    files: Files,
    parents: readonly Sha[],
    subject: string,
    by: Actor,
    trailers: readonly string[] = [],
    atMs = this.clock.now(),
  ): Sha {
    const tree = this.objects.writeTree(files);
    return this.objects.writeCommit({ tree, parents, subject, trailers, by }, atMs);
  }

  /** All or nothing: 'stale' if a ref does not have the expected value. */
  moveRefs(changes: readonly RefChange[], by: Actor, reason: string): 'moved' | 'stale' {
    const open = changes.filter(({ ref, next }) => (this.refs.get(ref) ?? null) !== next);
    for (const { ref, next, old } of open) {
      if (next === null && old === null) continue;
      if ((this.refs.get(ref) ?? null) !== old) return 'stale';
    }
    const moves = open.map(({ ref, next }) => {
      const old = this.refs.get(ref) ?? null;
      if (next === null) this.refs.delete(ref);
      else this.refs.set(ref, next);
      return { ref, old, next, by, reason };
    });
    if (moves.length > 0) this.observer.refsMoved(moves);
    return 'moved';
  }

  headOf(worktree: SimulatedWorktree): Sha | null {
    return worktree.branch === null
      ? worktree.detachedAt
      : (this.refs.get(worktree.branch) ?? null);
  }

  changedIn(worktree: SimulatedWorktree): string[] {
    const head = this.headOf(worktree);
    const committed = head === null ? new Map<string, string>() : this.objects.filesOf(head);
    return changedBetween(committed, worktree.files);
  }

  replaceFiles(worktree: SimulatedWorktree, files: Files): void {
    this.observer.filesReplaced(worktree.path, worktree.files, files);
    worktree.files = new Map(files);
  }

  /** Every commit that is reachable from some ref. */
  reachable(): Set<Sha> {
    const found = new Set<Sha>();
    for (const sha of new Set(this.refs.values())) {
      if (found.has(sha)) continue;
      for (const each of this.objects.ancestors(sha)) found.add(each);
    }
    return found;
  }

  /** A commit in a worktree by its current user. */
  commitIn(worktree: SimulatedWorktree, subject: string, by: Actor): Sha | null {
    if (this.changedIn(worktree).length === 0) return null;
    const head = this.headOf(worktree);
    const sha = this.commit(worktree.files, head === null ? [] : [head], subject, by);
    this.#advance(worktree, sha, by, subject);
    return sha;
  }

  #advance(worktree: SimulatedWorktree, sha: Sha, by: Actor, reason: string): void {
    if (worktree.branch === null) worktree.detachedAt = sha;
    else
      this.moveRefs([{ ref: worktree.branch, next: sha, old: this.headOf(worktree) }], by, reason);
  }

  /**
   * Keeps uncommitted changes, or a commit that nothing else references; the worktree stays
   * unchanged.
   */
  keepFound(worktree: SimulatedWorktree): string | null {
    const head = this.headOf(worktree);
    const dirty = this.changedIn(worktree).length > 0;
    if (!dirty && (head === null || worktree.branch !== null || this.reachable().has(head)))
      return null;
    return this.chain(worktree.owner, head, worktree.files).ref;
  }

  /** The next snapshot of an attempt, or the last one if it is identical. */
  chain(label: string, head: Sha | null, files: Files): { ref: string; sha: Sha; isNew: boolean } {
    const ref = `refs/drover/work/${label}`;
    const previous = this.refs.get(ref) ?? null;
    const last = previous === null ? null : this.objects.commit(previous);
    const isSame =
      last !== null &&
      last.tree === this.objects.writeTree(files) &&
      last.parents[0] === (head ?? undefined);
    if (previous !== null && isSame) return { ref, sha: previous, isNew: false };
    const parents = [head, previous].filter((sha) => sha !== null);
    const sha = this.commit(files, parents, `drover: snapshot of ${label}`, 'drover');
    this.moveRefs([{ ref, next: sha, old: previous }], 'drover', 'drover: snapshot');
    return { ref, sha, isNew: true };
  }

  /** Makes a commit part of an attempt's snapshots. */
  keepCommit(sha: Sha, label: string): string {
    const ref = `refs/drover/work/${label}`;
    const last = this.refs.get(ref);
    if (last !== undefined && this.objects.isAncestor(sha, last)) return ref;
    return this.chain(label, sha, this.objects.filesOf(sha)).ref;
  }

  /**
   * Before a branch is created or reset, other worktrees that have it are detached, and its commits
   * stay reachable.
   */
  freeBranch(ref: string, path: string, next: Sha, keep: boolean): void {
    const old = this.refs.get(ref);
    if (old === undefined) return;
    for (const holder of this.worktrees.values()) {
      if (holder.branch !== ref || holder.path === path) continue;
      if (holder.path === this.root) throw new Error(`${ref} is checked out by the person`);
      holder.branch = null;
      holder.detachedAt = old;
    }
    if (keep || old === next || this.objects.isAncestor(old, next)) return;
    this.keepCommit(old, labelOf(ref));
  }

  /** Puts a worktree on a branch or a commit; its files are replaced. */
  switchTo(path: string, branch: string | null, sha: Sha, keepBranch: boolean): void {
    const ref = branch === null ? null : branchRef(branch);
    const present = ref === null ? undefined : this.refs.get(ref);
    const head = keepBranch && present !== undefined ? present : sha;
    if (ref !== null) {
      this.freeBranch(ref, path, head, keepBranch);
      this.moveRefs([{ ref, next: head, old: this.refs.get(ref) ?? null }], 'drover', 'switch');
    }
    const worktree = this.worktrees.get(path) ?? {
      path,
      branch: null,
      detachedAt: null,
      files: new Map<string, string>(),
      owner: `slots/${path.slice(path.lastIndexOf('/') + 1)}`,
    };
    const files = this.objects.filesOf(head);
    this.replaceFiles(worktree, files);
    worktree.branch = ref;
    worktree.detachedAt = ref === null ? head : null;
    if (ref?.startsWith('refs/heads/drover/') === true) worktree.owner = labelOf(ref);
    this.worktrees.set(path, worktree);
  }
}

export function branchRef(branch: string): string {
  return branch.startsWith('refs/') ? branch : `refs/heads/${branch}`;
}

export function branchName(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

export function labelOf(ref: string): string {
  return branchName(ref).replace(/^drover\//, '');
}
