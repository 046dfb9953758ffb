// A repository shared by several machines: the remote is authoritative for landing refs, lines and
// attempts' branches; worktrees, merges and diffs are those of the local clone.

import { err, ok } from '../../core/failure.ts';
import { isAncestor } from '../ask/ancestry.ts';
import { type GitRepository, type GitResult, GitRefusal } from '../port.ts';
import type { RefChange } from '../refs/transactions.ts';
import { branchRef, checkNames, isFullRef } from '../refs/refs.ts';
import type { LocalRepository } from '../local-port.ts';
import { Fences } from './fences.ts';
import type { Carrier } from './carried-work.ts';
import { publishFinished } from './finished-work.ts';
import { followShared } from './follow.ts';
import { allSnapshots, lastSnapshot } from './found-work.ts';
import { RemoteRefs } from './remote-refs.ts';
import { landedLine, parseRefPlace } from './names.ts';
import { sharedWork, type SharedWork } from './old-work.ts';
import { Presence } from './presence.ts';
import { PublishedBranches } from './publish.ts';
import { pushChanges, type Pushed, staleFailure } from './pushes.ts';
import { openRemote, type Remote } from './remote.ts';
import { rescueRefName } from './kept-refs.ts';
import { WorkPushes } from './work-pushes.ts';
import type { Sha } from '../sha.ts';
import type { CommitLeftoversOutcome, CommitLeftoversRequest } from '../slot-port.ts';

export interface SharedOptions {
  /** Name of a git remote, for example `origin`. */
  readonly remote: string;
  readonly branchPrefix?: string | undefined;
  readonly machineId: string;
  readonly report: (error: unknown, doing: string) => void;
  /** Time limit of one git process that talks to the remote. */
  readonly timeoutMs?: number;
  /** Pauses between tries while the remote is unreachable. */
  readonly pausesMs?: readonly number[];
  /** How long an answer of the remote is reused. */
  readonly freshMs?: number;
  /** Transfers finished work to other machines while the remote is unreachable from here. */
  readonly carrier?: Carrier;
  /** Delay before snapshots that could not be pushed are retried. */
  readonly againMs?: number;
}

export interface SharedRepository extends GitRepository {
  /** Resolves when no push is running in the background. */
  settled(): Promise<void>;
  /** Snapshots on the remote, and their fetched copies. */
  readonly work: SharedWork;
}

const defaults = {
  timeoutMs: 5 * 60_000,
  pausesMs: [500, 1_000, 2_000],
  freshMs: 250,
  againMs: 5_000,
};

export function createSharedRepository(
  local: LocalRepository,
  options: SharedOptions,
): SharedRepository {
  const { remote: name, timeoutMs = defaults.timeoutMs, pausesMs = defaults.pausesMs } = options;
  const { branchPrefix } = options;
  const remote = openRemote(local.context, { remote: name, branchPrefix, timeoutMs, pausesMs });
  // Best effort, because closing waits for running calls and must not wait for an unreachable
  // remote.
  const brief = openRemote(local.context, {
    remote: name,
    branchPrefix,
    timeoutMs: Math.min(timeoutMs, briefTimeoutMs),
    pausesMs: pausesMs.slice(0, 1),
  });
  const shared = new Shared(local, remote, brief, options);
  return sharedMethods(local, shared);
}

const briefTimeoutMs = 30_000;

/** Throws the failure of a result that the caller's answer cannot carry. */
function orTrouble<T>(result: GitResult<T>): T {
  if (!result.ok) throw new GitRefusal(result.error);
  return result.value;
}

class Shared {
  readonly local: LocalRepository;
  readonly remote: Remote;
  readonly remoteRefs: RemoteRefs;
  readonly presence: Presence;
  readonly fences: Fences;
  readonly branches: PublishedBranches;
  readonly work: WorkPushes;
  readonly carrier: Carrier | null;
  readonly report: SharedOptions['report'];

  constructor(local: LocalRepository, remote: Remote, brief: Remote, options: SharedOptions) {
    this.local = local;
    this.remote = remote;
    this.report = options.report;
    this.remoteRefs = new RemoteRefs(remote, options.freshMs ?? defaults.freshMs);
    this.carrier = options.carrier ?? null;
    this.presence = new Presence(remote, this.carrier);
    const parts = { remote, remoteRefs: this.remoteRefs, presence: this.presence };
    this.fences = new Fences(parts, options.machineId);
    this.branches = new PublishedBranches(parts);
    const remoteRefs = new RemoteRefs(brief, 0);
    const againMs = options.againMs ?? defaults.againMs;
    this.work = new WorkPushes({ remote: brief, remoteRefs }, options.report, againMs);
  }

  /** Runs the body after fetching these commits. */
  async with<T>(commits: readonly Sha[], body: () => Promise<GitResult<T>>): Promise<GitResult<T>> {
    const present = await this.presence.ensure(commits);
    return present.ok ? body() : present;
  }

  async readRef(ref: string, asOf?: 'now'): Promise<Sha | null> {
    if (!isFullRef(ref)) return null;
    switch (parseRefPlace(ref).kind) {
      case 'local':
      case 'work':
        return this.local.readRef(ref);
      case 'attempt':
        return (await this.local.readRef(ref)) ?? orTrouble(await this.remoteRefs.read(ref));
      case 'line': {
        const value = orTrouble(await this.remoteRefs.read(ref, asOf));
        await this.#mirror(ref, value);
        return value;
      }
    }
  }

  async updateRefs(
    changes: readonly RefChange[],
    reason: string,
    as?: 'owner',
  ): Promise<GitResult<void>> {
    const named = checkNames(changes);
    if (!named.ok) return named;
    const of = (...kinds: readonly string[]): readonly RefChange[] =>
      changes.filter(({ ref }) => kinds.includes(parseRefPlace(ref).kind));
    const moved = await this.#moveLines(of('line'), as);
    if (!moved.ok) return moved;
    const published = await this.#moveAttempts(of('attempt'), reason);
    if (!published.ok) return published;
    const rest = await this.local.updateRefs(of('local', 'work'), reason);
    if (!rest.ok) return rest;
    for (const { ref, next } of of('work')) if (next !== null) this.work.add(ref);
    return ok(undefined);
  }

  async #moveLines(changes: readonly RefChange[], as?: 'owner'): Promise<GitResult<void>> {
    if (changes.length === 0) return ok(undefined);
    const pushed = await this.#pushLines(changes, as);
    if (!pushed.ok) return pushed;
    switch (pushed.value.kind) {
      case 'moved':
        break;
      case 'trouble':
        return err(pushed.value.failure);
      case 'stale': {
        const { found, ref: movedRef } = pushed.value;
        const isThere = changes.every(({ ref, next }) => (found.get(ref) ?? null) === next);
        if (!isThere) return err(staleFailure(movedRef));
      }
    }
    for (const { ref, next } of changes) await this.#mirror(ref, next);
    return ok(undefined);
  }

  async #pushLines(changes: readonly RefChange[], as?: 'owner'): Promise<GitResult<Pushed>> {
    const present = await this.presence.require(
      changes.flatMap(({ next }) => (next === null ? [] : [next])),
    );
    if (!present.ok) return present;
    const lines = new Set(
      changes.flatMap(({ ref }) => {
        const line = landedLine(ref);
        return line === null ? [] : [line];
      }),
    );
    const [line] = lines;
    if (line !== undefined && lines.size === 1) {
      const moved = await this.fences.move(line, changes);
      if (moved !== null) return moved;
    }
    if (as === 'owner') {
      const message = `Another machine lands on ${[...lines].join(', ')} now.`;
      return err({ kind: 'failed', retryable: true, message });
    }
    return ok(await pushChanges(this.#pushParts, changes, true));
  }

  get #pushParts(): { readonly remote: Remote; readonly remoteRefs: RemoteRefs } {
    return { remote: this.remote, remoteRefs: this.remoteRefs };
  }

  /**
   * The remote is changed first. If it is unreachable, the local branch still exists for a later
   * try.
   */
  async #moveAttempts(changes: readonly RefChange[], reason: string): Promise<GitResult<void>> {
    const removed = changes.filter(({ next }) => next === null);
    if (removed.length > 0) {
      const gone = await this.branches.remove(removed);
      if (!gone.ok) return gone;
    }
    const here: RefChange[] = [];
    for (const change of changes) {
      const present = await this.local.readRef(change.ref);
      if (present !== null) here.push(change);
      // The branch existed only on the remote.
      else if (change.next !== null) here.push({ ...change, old: null });
    }
    const done = await this.local.updateRefs(here, reason);
    if (!done.ok) return done;
    for (const { ref, next } of changes) {
      if (next === null) continue;
      const published = await this.branches.move(ref, next, null);
      if (!published.ok) return published;
    }
    return ok(undefined);
  }

  /**
   * Landing refs are also stored here under their own names. Commits that only this clone had under
   * that name are moved to a rescue ref.
   */
  async #mirror(ref: string, value: Sha | null): Promise<void> {
    const line = landedLine(ref);
    if (line === null || value === null) return;
    await this.remote.context.inTurn(`mirror ${ref}`, async () => {
      const old = await this.local.readRef(ref);
      if (old === value) return;
      const changes: RefChange[] = [{ ref, next: value, old }];
      if (old !== null && !(await isAncestor(this.remote.context, old, value))) {
        const kept = rescueRefName(`lines/${line}`, old);
        if ((await this.local.readRef(kept)) === null)
          changes.push({ ref: kept, next: old, old: null });
      }
      const done = await this.local.updateRefs(changes, 'drover: as on the remote');
      if (!done.ok && done.error.kind !== 'stale') this.report(done.error, `mirroring ${ref}`);
    });
  }

  async commitLeftovers(
    request: CommitLeftoversRequest,
  ): Promise<GitResult<CommitLeftoversOutcome>> {
    const done = await this.with([request.base], () => this.local.commitLeftovers(request));
    if (!done.ok) return done;
    this.work.add(done.value.ignored?.ref ?? null);
    return publishFinished(this, this.local.facts, request, done.value);
  }

  async publish(branch: string, commit: Sha): Promise<GitResult<void>> {
    const present = await this.presence.require([commit]);
    return present.ok ? this.branches.move(branchRef(branch), commit, null) : present;
  }
}

type WorkMethods = Pick<
  SharedRepository,
  | 'sharedChanges'
  | 'snapshot'
  | 'keepCommit'
  | 'lastSnapshot'
  | 'snapshotAt'
  | 'listSnapshots'
  | 'sizeOfChange'
  | 'restore'
  | 'withIgnored'
>;

function workMethods(local: LocalRepository, shared: Shared): WorkMethods {
  return {
    sharedChanges: (path) => local.sharedChanges(path),
    withIgnored: (request) =>
      shared.with([request.commit, request.snapshot], () => local.withIgnored(request)),
    snapshot: async (request) => {
      const taken = await local.snapshot({ ...request, forOthers: true });
      if (taken.ok && taken.value?.isNew === true) shared.work.add(taken.value.ref);
      else shared.work.again();
      return taken;
    },
    lastSnapshot: (label, where) => lastSnapshot(shared, label, where),
    snapshotAt: (commit) => shared.with([commit], () => local.snapshotAt(commit)),
    listSnapshots: (taskId, bases) => allSnapshots(shared, taskId, bases),
    sizeOfChange: (from, to) => shared.with([from, to], () => local.sizeOfChange(from, to)),
    restore: (request) => shared.with([request.commit], () => local.restore(request)),
    keepCommit: async (commit, label) => {
      const kept = await shared.with([commit], () => local.keepCommit(commit, label));
      if (kept.ok) shared.work.add(kept.value);
      return kept;
    },
  };
}

function sharedMethods(local: LocalRepository, shared: Shared): SharedRepository {
  return {
    get facts() {
      return local.facts;
    },
    get processCount() {
      return local.processCount;
    },
    sharedRemote: shared.remote.health,
    refresh: () => local.refresh(),
    readRef: (ref, asOf) => shared.readRef(ref, asOf),
    resolve: (revision) => shared.with([revision], () => local.resolve(revision)),
    updateRef: (ref, next, old, reason, as) => shared.updateRefs([{ ref, next, old }], reason, as),
    updateRefs: (changes, reason) => shared.updateRefs(changes, reason),
    ownLine: (branch) => shared.fences.own(branch),
    isAncestor: async (ancestor, descendant) => {
      if (ancestor !== descendant) orTrouble(await shared.presence.ensure([ancestor, descendant]));
      return local.isAncestor(ancestor, descendant);
    },
    treeOf: (commit) => shared.with([commit], () => local.treeOf(commit)),
    namesAtRoot: (commit) => shared.with([commit], () => local.namesAtRoot(commit)),
    prepareSlot: async (request) => {
      const prepared = await shared.with([request.sha], () => local.prepareSlot(request));
      if (prepared.ok) shared.work.add(prepared.value.keptRef);
      return prepared;
    },
    lookAtSetup: (request) => local.lookAtSetup(request),
    keepSetup: (request, look) => local.keepSetup(request, look),
    status: (path, marksSince) => local.status(path, marksSince),
    commitLeftovers: (request) => shared.commitLeftovers(request),
    publish: (branch, commit) => shared.publish(branch, commit),
    ...workMethods(local, shared),
    removeWorktree: async (request) => {
      const removed = await local.removeWorktree(request);
      if (removed.ok && removed.value.kind === 'removed') {
        shared.work.add(removed.value.keptRef);
      }
      return removed;
    },
    listWorktrees: () => local.listWorktrees(),
    merge: (request) => {
      const { tip, commit, base = null } = request;
      const needed = base === null ? [tip, commit] : [tip, commit, base];
      return shared.with(needed, () => local.merge(request));
    },
    conflicts: (one, other) => shared.with([one, other], () => local.conflicts(one, other)),
    follow: (target, tip, mode, seen) => followShared(shared, target, tip, { mode, seen }),
    // The branch is the remote's, which has no checkout and no log of it.
    lookAfter: () => Promise.resolve(null),
    cure: () => Promise.resolve(ok(null)),
    // On the remote, no worktree has it checked out.
    moveBranch: async (branch, next, from) => {
      const moved = await shared.updateRefs(
        [{ ref: branchRef(branch), next, old: from }],
        'drover: own branch',
      );
      return moved.ok ? ok({ kind: 'moved' }) : moved;
    },
    canonicalBranch: (branch) => local.canonicalBranch(branch),
    withoutHeld: (request) =>
      shared.with([request.base, request.commit], () => local.withoutHeld(request)),
    startWork: (path) => local.startWork(path),
    revertOf: (request) => shared.with([request.commit], () => local.revertOf(request)),
    ...looksAtCommits(local, shared),
    settled: () => shared.work.settled(),
    work: sharedWork(shared),
  };
}

/** Queries about commits, which must be fetched first. */
function looksAtCommits(
  local: LocalRepository,
  shared: Shared,
): Pick<
  GitRepository,
  'diff' | 'changedPaths' | 'changedFiles' | 'fileAt' | 'lineCommits' | 'mergeBase'
> {
  return {
    diff: (...by) => shared.with([by[0], by[1]], () => local.diff(...by)),
    changedPaths: (...by) => shared.with([by[0], by[1]], () => local.changedPaths(...by)),
    changedFiles: (from, to) => shared.with([from, to], () => local.changedFiles(from, to)),
    fileAt: (commit, path, bytesMax) =>
      shared.with([commit], () => local.fileAt(commit, path, bytesMax)),
    lineCommits: (from, to, limit, which) =>
      shared.with(from === null ? [to] : [from, to], () =>
        local.lineCommits(from, to, limit, which),
      ),
    mergeBase: async (one, two) => {
      orTrouble(await shared.presence.ensure([one, two]));
      return local.mergeBase(one, two);
    },
  };
}
