// The workflows' git port with a simulated repository: the second implementation of the git
// binary's behavior.

import { err, ok } from '../../server/core/failure.ts';
import type {
  BranchMove,
  FollowOutcome,
  GitFailure,
  GitRepository,
  GitResult,
  Merge,
  MergeConflict,
  MergeRequest,
  RemoveOutcome,
  RemoveRequest,
  RepositoryFacts,
  WorktreeStatus,
} from '../../server/git/port.ts';
import type { RestoreOutcome, Snapshot } from '../../server/git/snapshot-port.ts';
import type { PortCalls } from './port-calls.ts';
import { SimulatedContents } from './simulated-contents.ts';
import { changedBetween } from './simulated-git-objects.ts';
import { restoreInto, snapshotOf } from './simulated-snapshots.ts';
import {
  branchName,
  branchRef,
  labelOf,
  type SimulatedRepository,
  type SimulatedWorktree,
} from './simulated-repository.ts';
import type { Sha } from '../../server/git/sha.ts';
import type {
  CommitLeftoversOutcome,
  CommitLeftoversRequest,
  SetupLook,
  SetupRequest,
  SlotOutcome,
  SlotRequest,
} from '../../server/git/slot-port.ts';

/** Whether git refuses a call by this name for a temporary reason (another process's lock). */
export type GitFault = (call: string) => GitFailure | null;

export function gitFailure(
  kind: GitFailure['kind'],
  message: string,
  retryable = false,
): GitFailure {
  return { kind, retryable, message };
}

export const heldName = '.env';

export class SimulatedGit extends SimulatedContents implements GitRepository {
  readonly #repository: SimulatedRepository;
  readonly #calls: PortCalls;
  readonly #trouble: GitFault;
  processCount = 0;
  readonly sharedRemote = null;
  readonly ownLine = (): Promise<GitResult<void>> => Promise.resolve(ok(undefined));

  constructor(repository: SimulatedRepository, calls: PortCalls, trouble: GitFault) {
    super(repository, calls);
    this.#repository = repository;
    this.#calls = calls;
    this.#trouble = trouble;
  }

  get facts(): RepositoryFacts {
    const { checkout, root } = this.#repository;
    return {
      commonDir: `${root}/.git`,
      root,
      headBranch: checkout.branch === null ? null : branchName(checkout.branch),
      headSha: this.#repository.headOf(checkout),
      hasSubmodules: false,
      usesLfs: false,
    };
  }

  #do<T>(
    name: string,
    last: () => GitResult<T>,
    earlier: readonly (() => void)[] = [],
  ): Promise<GitResult<T>> {
    this.processCount += 1;
    const trouble = this.#trouble(name);
    if (trouble !== null) return this.#calls.run(`git.${name}`, () => err(trouble));
    return this.#calls.run(`git.${name}`, last, earlier);
  }

  refresh(): Promise<GitResult<RepositoryFacts>> {
    return this.#calls.run('git.refresh', () => ok(this.facts));
  }

  readRef(ref: string): Promise<Sha | null> {
    return this.#calls.run('git.readRef', () => this.#repository.refs.get(ref) ?? null);
  }

  updateRef(ref: string, next: Sha, old: Sha | null, reason: string): Promise<GitResult<void>> {
    return this.updateRefs([{ ref, next, old }], reason);
  }

  updateRefs(
    changes: readonly { ref: string; next: Sha | null; old: Sha | null }[],
    reason: string,
  ): Promise<GitResult<void>> {
    return this.#do('updateRefs', () => {
      const moved = this.#repository.moveRefs(changes, 'drover', reason);
      if (moved === 'moved') return ok(undefined);
      const names = changes.map(({ ref }) => ref).join(', ');
      return err(gitFailure('stale', `${names} was just moved by someone else.`));
    });
  }

  prepareSlot(request: SlotRequest): Promise<GitResult<SlotOutcome>> {
    const { path, branch, sha, keepBranch } = request;
    const repository = this.#repository;
    if (path === repository.root)
      return Promise.resolve(err(gitFailure('failed', `${path} is the checkout of the user.`)));
    const ref = branch === null ? null : branchRef(branch);
    const standsReady = (): boolean => {
      const present = repository.worktrees.get(path);
      return keepBranch && ref !== null && present?.branch === ref && repository.refs.has(ref);
    };
    let keptRef: string | null = null;
    const keep = (): void => {
      const present = repository.worktrees.get(path);
      if (present === undefined || standsReady()) return;
      keptRef = repository.keepFound(present) ?? keptRef;
    };
    return this.#do(
      'prepareSlot',
      () => {
        if (standsReady()) return ok({ created: false, keptRef: null });
        keep();
        const created = !repository.worktrees.has(path);
        repository.switchTo(path, branch, sha, keepBranch);
        return ok({ created, keptRef });
      },
      [keep],
    );
  }

  lookAtSetup({ path, command }: SetupRequest): Promise<GitResult<SetupLook>> {
    return this.#do('lookAtSetup', () =>
      this.#inWorktree(path, (worktree) => {
        const fingerprint = command ?? '';
        const stands = this.#repository.setups.get(worktree) === fingerprint;
        return ok({ fingerprint, stands, changed: [], before: new Map() });
      }),
    );
  }

  keepSetup({ path }: SetupRequest, look: SetupLook): Promise<GitResult<void>> {
    return this.#do('keepSetup', () =>
      this.#inWorktree(path, (worktree) => {
        this.#repository.setups.set(worktree, look.fingerprint);
        return ok(undefined);
      }),
    );
  }

  status(path: string): Promise<GitResult<WorktreeStatus>> {
    return this.#calls.run('git.status', () =>
      this.#inWorktree(path, (worktree, head) => {
        const committed = this.#repository.objects.filesOf(head);
        const changed = this.#repository.changedIn(worktree);
        return ok({
          head,
          branch: worktree.branch === null ? null : branchName(worktree.branch),
          changed,
          untracked: changed.filter((file) => !committed.has(file)),
        });
      }),
    );
  }

  #inWorktree<T>(
    path: string,
    body: (worktree: SimulatedWorktree, head: Sha) => GitResult<T>,
  ): GitResult<T> {
    const worktree = this.#repository.worktrees.get(path);
    if (worktree === undefined || path === this.#repository.root)
      return err(gitFailure('failed', `${path} is not a worktree of the repository.`));
    const head = this.#repository.headOf(worktree);
    if (head === null) return err(gitFailure('no_commit', `${path} has no commit yet.`));
    return body(worktree, head);
  }

  commitLeftovers(request: CommitLeftoversRequest): Promise<GitResult<CommitLeftoversOutcome>> {
    const attach = (): void => {
      this.#inWorktree(request.path, (worktree, head) => {
        this.#attach(worktree, head, request.branch);
        return ok(undefined);
      });
    };
    return this.#do(
      'commitLeftovers',
      () => {
        attach();
        return this.#inWorktree(request.path, (worktree, head) =>
          ok(this.#commitAll(worktree, head, request)),
        );
      },
      [attach],
    );
  }

  publish(): Promise<GitResult<void>> {
    return Promise.resolve(ok(undefined));
  }

  /** The agent may have finished elsewhere, but its work must end up on its own branch. */
  #attach(worktree: SimulatedWorktree, head: Sha, branch: string): void {
    const repository = this.#repository;
    const ref = branchRef(branch);
    const old = repository.refs.get(ref) ?? null;
    if (old !== null && old !== head && !repository.objects.isAncestor(old, head)) {
      repository.keepCommit(old, labelOf(ref));
    }
    repository.moveRefs([{ ref, next: head, old }], 'drover', 'drover: take the work of the agent');
    worktree.branch = ref;
    worktree.detachedAt = null;
  }

  #commitAll(
    worktree: SimulatedWorktree,
    head: Sha,
    request: CommitLeftoversRequest,
  ): CommitLeftoversOutcome {
    const repository = this.#repository;
    const changed = repository.changedIn(worktree);
    const held = changed.filter((path) => path === heldName && worktree.files.has(path));
    const files = new Map(worktree.files);
    for (const path of held) files.delete(path);
    let tip = head;
    if (changed.length > held.length) {
      const { subject, trailers } = request;
      tip = repository.commit(files, [head], subject, 'drover', trailers);
      const ref = branchRef(request.branch);
      repository.moveRefs([{ ref, next: tip, old: head }], 'drover', 'drover: leftovers');
    }
    const { tree } = repository.objects.commit(tip);
    return { commit: tip, tree, changed: tip !== request.base, held, protected: [] };
  }

  snapshot(request: Parameters<GitRepository['snapshot']>[0]): Promise<GitResult<Snapshot | null>> {
    return this.#do('snapshot', () =>
      this.#inWorktree<Snapshot | null>(request.path, (worktree, head) =>
        ok(snapshotOf(this.#repository, worktree, head, request)),
      ),
    );
  }

  restore({
    path,
    commit,
  }: Parameters<GitRepository['restore']>[0]): Promise<GitResult<RestoreOutcome>> {
    return this.#do<RestoreOutcome>('restore', () =>
      this.#inWorktree<RestoreOutcome>(path, (worktree, head) =>
        ok(restoreInto(this.#repository, worktree, head, commit)),
      ),
    );
  }

  keepCommit(commit: Sha, label: string): Promise<GitResult<string>> {
    return this.#do('keepCommit', () => ok(this.#repository.keepCommit(commit, label)));
  }

  removeWorktree(request: RemoveRequest): Promise<GitResult<RemoveOutcome>> {
    const repository = this.#repository;
    return this.#do<RemoveOutcome>('removeWorktree', () => {
      const worktree = repository.worktrees.get(request.path);
      if (worktree === undefined) return ok({ kind: 'removed', keptRef: null });
      if (request.path === repository.root)
        return ok({ kind: 'kept', reason: `${request.path} is the checkout of the user.` });
      const keptRef = repository.keepFound(worktree);
      repository.observer.filesReplaced(request.path, worktree.files, null);
      repository.worktrees.delete(request.path);
      return ok({ kind: 'removed', keptRef });
    });
  }

  listWorktrees(): ReturnType<GitRepository['listWorktrees']> {
    return this.#calls.run('git.listWorktrees', () =>
      ok(
        [...this.#repository.worktrees.values()].map((worktree) => ({
          path: worktree.path,
          head: this.#repository.headOf(worktree),
          branch: worktree.branch,
          prunable: false,
        })),
      ),
    );
  }

  merge(request: MergeRequest): Promise<GitResult<Merge | MergeConflict>> {
    return this.#do<Merge | MergeConflict>('merge', () => {
      const { objects } = this.#repository;
      const { tip, commit, base = null, subject, trailers } = request;
      const { files, conflicts } = objects.mergeFiles(tip, commit, base);
      if (conflicts.length > 0) return ok({ kind: 'conflict', files: conflicts });
      const parents = request.parents ?? (base === null ? [tip, commit] : [tip]);
      const sha = this.#repository.commit(files, parents, subject, 'drover', trailers);
      return ok({ kind: 'merged', commit: sha, tree: objects.commit(sha).tree });
    });
  }

  follow(target: string, tip: Sha, mode: string): Promise<GitResult<FollowOutcome>> {
    const ref = branchRef(target);
    // Git writes the files first and moves the branch last; after a crash in between, the next try
    // completes the move.
    const half = (): void => {
      if (typeof this.#obstacle(ref, tip, mode) === 'string') return;
      this.#fastForwardFiles(ref, tip);
    };
    return this.#do<FollowOutcome>(
      'follow',
      () => {
        const obstacle = this.#obstacle(ref, tip, mode);
        if (obstacle !== null && typeof obstacle !== 'string') return ok(obstacle);
        if (obstacle !== null) return ok(this.#pending(ref, tip, obstacle));
        this.#fastForwardFiles(ref, tip);
        const old = this.#repository.refs.get(ref) ?? null;
        this.#repository.moveRefs([{ ref, next: tip, old }], 'drover', 'drover: follow');
        return ok({ kind: 'followed', sha: tip });
      },
      [half],
    );
  }

  moveBranch(branch: string, next: Sha | null, from: Sha | null): Promise<GitResult<BranchMove>> {
    const ref = branchRef(branch);
    return this.#do<BranchMove>('moveBranch', () => {
      const { refs, checkout } = this.#repository;
      const current = refs.get(ref) ?? null;
      if (current === next) return ok({ kind: 'moved' });
      if (current !== from) return err(gitFailure('stale', `${branch} was moved meanwhile.`));
      if (checkout.branch === ref) return ok({ kind: 'kept', reason: `${branch} is checked out.` });
      this.#repository.moveRefs([{ ref, next, old: current }], 'drover', 'drover: own branch');
      return ok({ kind: 'moved' });
    });
  }

  #pending(ref: string, tip: Sha, reason: string): FollowOutcome {
    const { refs, objects } = this.#repository;
    const current = refs.get(ref);
    if (current === undefined) return { kind: 'pending', commits: 1, reason };
    const held = objects.ancestors(current);
    const commits = objects.firstParents(tip).filter(({ sha }) => !held.has(sha)).length;
    return { kind: 'pending', commits, reason };
  }

  /** Returns null if it can move; otherwise, the reason why it cannot, or that it already has. */
  #obstacle(ref: string, tip: Sha, mode: string): FollowOutcome | string | null {
    const { refs, objects, checkout } = this.#repository;
    const current = refs.get(ref);
    if (current === tip) return { kind: 'followed', sha: tip };
    if (current !== undefined && !objects.isAncestor(current, tip)) {
      if (objects.isAncestor(tip, current)) return { kind: 'followed', sha: current };
      return `${branchName(ref)} has commits that are not part of the landed work yet.`;
    }
    if (checkout.branch !== ref || current === undefined) return null;
    if (mode === 'never') return 'checkout.follow is "never".';
    const next = objects.filesOf(tip);
    const moving = changedBetween(objects.filesOf(current), next);
    const inTheWay = this.#repository
      .changedIn(checkout)
      .filter((path) => moving.includes(path) && checkout.files.get(path) !== next.get(path));
    return inTheWay.length > 0 ? `Local changes are in the way: ${inTheWay.join(', ')}.` : null;
  }

  /** Files that the person has changed elsewhere stay unchanged. */
  #fastForwardFiles(ref: string, tip: Sha): void {
    const { refs, objects, checkout } = this.#repository;
    const current = refs.get(ref);
    if (checkout.branch !== ref || current === undefined || current === tip) return;
    const next = objects.filesOf(tip);
    for (const path of changedBetween(objects.filesOf(current), next)) {
      const content = next.get(path);
      if (content === undefined) checkout.files.delete(path);
      else checkout.files.set(path, content);
    }
  }

  revertOf(request: Parameters<GitRepository['revertOf']>[0]): Promise<GitResult<Sha>> {
    return this.#do('revertOf', () => {
      const { commit, subject, trailers } = request;
      const { objects } = this.#repository;
      const files = objects.filesOf(objects.commit(commit).parents[0] ?? commit);
      return ok(this.#repository.commit(files, [commit], subject, 'drover', trailers));
    });
  }

  lookAfter = (): Promise<null> => Promise.resolve(null);
  cure = (): Promise<GitResult<null>> => Promise.resolve(ok(null));
}
