// Combines the parts of the git layer into one repository that implements the port.

import type { LocalRepository } from '../local-port.ts';
import { committedSoFar, takeSoFar } from '../lent/taken-so-far.ts';
import { heldSubmodules, unpublishedGitlinks } from '../nested/submodule-work.ts';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import { isAncestor, readTree } from '../ask/ancestry.ts';
import { commitLeftovers } from '../keep/commits.ts';
import type { RepositoryContext, SecretSearch } from '../context.ts';
import { homeFolder, networkVariables, type Variables } from '../process/environment.ts';
import { failureOf } from '../failures.ts';
import {
  askCheckout,
  findRepository,
  readConfiguration,
  readFacts,
  type RepositoryPlace,
} from './repository-facts.ts';
import { cure, follow, lookAfter, moveBranch } from '../follow/follow.ts';
import type { KeepCheckout } from '../follow/checkout.ts';
import { changedFiles, fileAt, namesAtRoot, makeRevert } from '../ask/contents.ts';
import {
  changedPaths,
  diff,
  lineCommits,
  mergeBase,
  rootCommit,
  tracksAny,
} from '../ask/history.ts';
import { isHeldFileName } from '../keep/held-files.ts';
import { resolveCommitter, identityVariables, type Committer } from '../process/identity.ts';
import { GitObjects } from '../ask/objects.ts';
import { lendGit } from '../lent/lent-folder.ts';
import { conflicts, merge } from '../ask/merges.ts';
import type { GitProcesses } from '../process/process.ts';
import type { GitRepository, GitResult, RepositoryFacts, WorktreeEntry } from '../port.ts';
import {
  branchName,
  branchRef,
  finalRef,
  readRef,
  resolveRevision,
  updateRefs,
} from '../refs/refs.ts';
import { removeWorktree } from '../slots/removal.ts';
import { keepSetup, lookAtSetup } from '../slots/setup-state.ts';
import { withoutHeld } from '../keep/without-held.ts';
import { prepareSlot } from '../slots/slots.ts';
import { sharedChanges } from '../keep/shared-leavings.ts';
import { exists } from '../../files/small-files.ts';
import { lastSnapshot, restoreSnapshot, readSnapshotCommit } from '../keep/restore.ts';
import { listSnapshots, sizeOfChange } from '../keep/snapshot-list.ts';
import { mirrorFetches, mirrorWarning } from './mirror-fetch.ts';
import { keepCheckout } from '../keep/checkout-snapshot.ts';
import { takeSnapshot } from '../keep/snapshot.ts';
import { withIgnored } from '../keep/ignored-results.ts';
import { startWork } from '../keep/work-start.ts';
import { worktreeStatus } from '../ask/status.ts';
import { isLent, importLentWork } from '../lent/taken-back.ts';
import { Trash } from '../../files/trash.ts';
import { TrustedConfig } from '../process/trusted-config.ts';
import type { KeyedMutex } from '../../core/work/semaphore.ts';
import { chainCommit } from '../keep/work-chain.ts';
import { canonicalPath, linkedWorktrees } from '../refs/worktree-link.ts';
import { parseWorktreeList } from '../refs/worktree-list-format.ts';
import { repositoryConversation, repositoryRunner, type RunnerDeps } from './repository-runner.ts';

export interface RepositoryDeps {
  readonly processes: GitProcesses;
  readonly mutex: KeyedMutex;
  readonly place: RepositoryPlace;
  readonly facts: RepositoryFacts;
  readonly committer: Committer;
  readonly inherited: Variables;
  readonly lockPatienceMs: number;
  readonly staleLockMs: number;
  readonly checkoutSettings: readonly string[];
  readonly secretsIn: SecretSearch | null;
  readonly secretsAllowed: (path: string) => boolean;
}

export interface OpenedRepository {
  readonly repository: LocalRepository;
  readonly renew: (facts: RepositoryFacts, committer: Committer) => void;
  readonly settled: () => Promise<void>;
}

export function openRepository(deps: RepositoryDeps): OpenedRepository {
  const state = new RepositoryState(deps);
  const context = contextOf(deps, state);
  const repository: LocalRepository = {
    context,
    get facts() {
      return state.facts;
    },
    sharedRemote: null,
    get processCount() {
      return state.processCount;
    },
    refresh: () => state.refresh(),
    warnings: mirrorFetches(deps.place.listed.values).map(mirrorWarning),
    rootCommit: () => rootCommit(context),
    mayHold: async (commit) =>
      exists(join(context.commonDir, 'shallow')) || (await readTree(context, commit)).ok,
    tracksAny: (paths) => tracksAny(context, paths),
    lend: (path) => lendGit(context, path),
    takeBack: (path) => importLentWork(context, canonicalPath(path)),
    lent: () =>
      linkedWorktrees(context)
        .filter(isLent)
        .map(({ path }) => path),
    ...operations(context),
  };
  const renew = (facts: RepositoryFacts, committer: Committer): void =>
    state.renew(facts, committer);
  return { repository, renew, settled: () => context.trash.settled() };
}

/** The state that changes while a repository is open. */
class RepositoryState {
  readonly #deps: RepositoryDeps;
  #facts: RepositoryFacts;
  #committer: Committer;
  #processCount = 0;

  constructor(deps: RepositoryDeps) {
    this.#deps = deps;
    this.#facts = deps.facts;
    this.#committer = deps.committer;
  }

  get facts(): RepositoryFacts {
    return this.#facts;
  }

  get committer(): Committer {
    return this.#committer;
  }

  get processCount(): number {
    return this.#processCount;
  }

  countProcess(): void {
    this.#processCount += 1;
  }

  renew(facts: RepositoryFacts, committer: Committer): void {
    this.#facts = facts;
    this.#committer = committer;
  }

  async refresh(): Promise<GitResult<RepositoryFacts>> {
    const read = await readAgain(this.#deps);
    if (read.ok) this.renew(read.value.facts, read.value.committer);
    return read.ok ? ok(this.#facts) : read;
  }
}

function contextOf(deps: RepositoryDeps, state: RepositoryState): RepositoryContext {
  const { place, mutex } = deps;
  const runner = runnerDeps(deps, state);
  return {
    commonDir: place.commonDir,
    root: place.root,
    isBare: place.isBare,
    idBytes: place.config.get('extensions.objectformat') === 'sha256' ? 32 : 20,
    refsAreFiles: (place.config.get('extensions.refstorage') ?? 'files') === 'files',
    ownRefsAreLogged: place.config.get('core.logallrefupdates')?.toLowerCase() === 'always',
    staleLockMs: deps.staleLockMs,
    cones: new Map(),
    trash: new Trash(),
    networkVariables: networkVariables(deps.inherited, place.config),
    checkoutSettings: deps.checkoutSettings,
    secretsIn: deps.secretsIn,
    isHeldName: (path) => isHeldFileName(path) && !deps.secretsAllowed(path),
    identity: async (signature) => {
      // The user may have set an identity since. If it cannot be read, the previous one is used.
      if (!state.committer.isCurrent()) await state.refresh();
      return identityVariables(state.committer.missing, signature);
    },
    git: repositoryRunner(runner),
    objects: new GitObjects(repositoryConversation(runner, ['cat-file', '--batch-command'])),
    refMoves: repositoryConversation(runner, ['update-ref', '-m', 'drover', '--stdin', '-z']),
    exclusively: (body) => mutex.run(place.commonDir, body),
    inTurn: (key, body) => mutex.run(`${place.commonDir} ${key}`, body),
  };
}

function runnerDeps(
  { place, processes, ...deps }: RepositoryDeps,
  state: RepositoryState,
): RunnerDeps {
  return {
    processes,
    root: place.root,
    commonDir: place.commonDir,
    trusted: new TrustedConfig(place.commonDir, place.listed, (gitDir) =>
      readConfiguration(processes.run, place.root, { gitDir, home: homeFolder(deps.inherited) }),
    ),
    lockPatienceMs: deps.lockPatienceMs,
    onStart: () => state.countProcess(),
  };
}

async function readAgain({
  processes: { run },
  place,
  inherited,
}: RepositoryDeps): Promise<
  GitResult<{ readonly facts: RepositoryFacts; readonly committer: Committer }>
> {
  const [found, asked] = await Promise.all([
    findRepository(run, place.root, homeFolder(inherited)),
    askCheckout(run, place.root),
  ]);
  if (!found.ok) return found;
  const facts = await readFacts(run, place, asked);
  return ok({ facts, committer: resolveCommitter(place.commonDir, found.value.config, inherited) });
}

const inSubmodules = { held: heldSubmodules, unpublished: unpublishedGitlinks };
const lentWork = { take: takeSoFar, commits: committedSoFar };

/** All operations of the port that only need the shared context. */
function operations(
  context: RepositoryContext,
): Omit<GitRepository, 'facts' | 'processCount' | 'refresh' | 'sharedRemote'> {
  const keep: KeepCheckout = (checkout) => keepCheckout(context, checkout);
  return {
    readRef: (ref) => readRef(context, ref),
    resolve: (revision) => resolveRevision(context, revision),
    updateRef: (ref, next, old, reason) => updateRefs(context, [{ ref, next, old }], reason),
    updateRefs: (changes, reason) => updateRefs(context, changes, reason),
    isAncestor: (ancestor, descendant) => isAncestor(context, ancestor, descendant),
    treeOf: (commit) => readTree(context, commit),
    prepareSlot: (request) => prepareSlot(context, request),
    lookAtSetup: (request) => lookAtSetup(context, request),
    keepSetup: (request, look) => keepSetup(context, request, look),
    status: (path, marksSince) => worktreeStatus(context, path, marksSince),
    commitLeftovers: (request) => commitLeftovers(context, request, inSubmodules),
    sharedChanges: (path) => sharedChanges(context, canonicalPath(path)),
    publish: () => Promise.resolve(ok(undefined)),
    snapshot: (request) => takeSnapshot(context, request, lentWork),
    lastSnapshot: (label) => lastSnapshot(context, label),
    snapshotAt: (commit) => readSnapshotCommit(context, commit),
    listSnapshots: (taskId, bases) => listSnapshots(context, taskId, bases),
    sizeOfChange: (from, to) => sizeOfChange(context, from, to),
    restore: (request) => restoreSnapshot(context, request),
    keepCommit: (commit, label) => chainCommit(context, commit, label),
    removeWorktree: (request) => removeWorktree(context, request),
    listWorktrees: () => listWorktrees(context),
    merge: (request) => merge(context, request),
    conflicts: (one, other) => conflicts(context, one, other),
    follow: (target, tip, mode, seen) => follow(context, target, tip, { mode, seen, keep }),
    lookAfter: (branch, from, to) => lookAfter(context, branch, from, to),
    cure: (branch, wrong) => cure(context, branch, wrong, keep),
    moveBranch: (branch, next, from) => moveBranch(context, branch, { next, from }, keep),
    canonicalBranch: async (branch) => branchName(await finalRef(context, branchRef(branch))),
    diff: (from, to, paths) => diff(context, from, to, paths),
    changedPaths: (from, to, counting) => changedPaths(context, from, to, counting),
    changedFiles: (from, to) => changedFiles(context, from, to),
    namesAtRoot: (commit) => namesAtRoot(context, commit),
    fileAt: (commit, path, bytesMax) => fileAt(context, commit, path, bytesMax),
    withoutHeld: (request) => withoutHeld(context, request),
    withIgnored: (request) => withIgnored(context, request),
    startWork: (path) => startWork(context, path),
    revertOf: (request) => makeRevert(context, request),
    lineCommits: (from, to, limit, which) => lineCommits(context, from, to, limit, which),
    mergeBase: (one, two) => mergeBase(context, one, two),
    ownLine: () => Promise.resolve(ok(undefined)),
  };
}

async function listWorktrees(
  context: RepositoryContext,
): Promise<GitResult<readonly WorktreeEntry[]>> {
  const output = await context.git(['worktree', 'list', '--porcelain', '-z']);
  if (output.code !== 0) return err(failureOf(output, 'list the worktrees'));
  return ok(
    parseWorktreeList(output.stdout).map(({ path, head, branch, prunable }) => ({
      path,
      head,
      branch: branch === null ? null : branchName(branch),
      prunable,
    })),
  );
}
