// The readable content of commits in the simulated repository.

import { err, ok } from '../../server/core/failure.ts';
import type { GitRepository, GitResult } from '../../server/git/port.ts';
import type { SnapshotView } from '../../server/git/snapshot-port.ts';
import type { PortCalls } from './port-calls.ts';
import { changedBetween } from './simulated-git-objects.ts';
import { branchRef, type SimulatedRepository } from './simulated-repository.ts';
import { viewOf } from './simulated-snapshots.ts';
import type { Sha } from '../../server/git/sha.ts';
import type { WithoutHeldRequest } from '../../server/git/slot-port.ts';

export class SimulatedContents {
  readonly #repository: SimulatedRepository;
  readonly #calls: PortCalls;

  constructor(repository: SimulatedRepository, calls: PortCalls) {
    this.#repository = repository;
    this.#calls = calls;
  }

  lastSnapshot(label: string): Promise<GitResult<SnapshotView | null>> {
    return this.#calls.run('git.lastSnapshot', () => {
      const commit = this.#repository.refs.get(`refs/drover/work/${label}`);
      return ok(commit === undefined ? null : viewOf(this.#repository, commit));
    });
  }

  snapshotAt(commit: Sha): Promise<GitResult<SnapshotView>> {
    return this.#calls.run('git.snapshotAt', () => ok(viewOf(this.#repository, commit)));
  }

  sharedChanges(): ReturnType<GitRepository['sharedChanges']> {
    return Promise.resolve([]);
  }

  listSnapshots(): Promise<GitResult<readonly SnapshotView[]>> {
    return Promise.resolve(ok([]));
  }

  startWork(): Promise<GitResult<void>> {
    return Promise.resolve(ok(undefined));
  }

  withIgnored(): ReturnType<GitRepository['withIgnored']> {
    const message = 'No file is ignored.';
    return Promise.resolve(err({ kind: 'failed', retryable: false, message }));
  }

  sizeOfChange(): ReturnType<GitRepository['sizeOfChange']> {
    return Promise.resolve(ok({ files: 0, insertions: 0, deletions: 0 }));
  }

  resolve(revision: string): Promise<GitResult<Sha>> {
    return this.#calls.run('git.resolve', () => {
      const sha = this.#repository.refs.get(branchRef(revision)) ?? revision;
      return this.#repository.objects.has(sha)
        ? ok(sha)
        : err({
            kind: 'unknown_ref',
            retryable: false,
            message: `There is no commit named "${revision}".`,
          });
    });
  }

  diff(from: Sha, to: Sha): Promise<GitResult<string>> {
    return this.#calls.run('git.diff', () => ok(this.#changed(from, to).join('\n')));
  }

  changedPaths(from: Sha, to: Sha, counting = ''): Promise<GitResult<readonly string[]>> {
    const { objects } = this.#repository;
    const count = (commit: Sha, path: string): number =>
      (objects.filesOf(commit).get(path) ?? '').split(counting).length;
    const isCounted = (path: string): boolean =>
      counting === '' || count(from, path) !== count(to, path);
    return this.#calls.run('git.changedPaths', () => ok(this.#changed(from, to).filter(isCounted)));
  }

  conflicts(one: Sha, other: Sha): Promise<GitResult<readonly string[]>> {
    const { objects } = this.#repository;
    return this.#calls.run('git.conflicts', () =>
      ok(objects.mergeFiles(one, other, null).conflicts),
    );
  }

  changedFiles(from: Sha, to: Sha): ReturnType<GitRepository['changedFiles']> {
    return this.#calls.run('git.changedFiles', () =>
      ok(
        this.#changed(from, to).map((path) => ({
          path,
          oldPath: null,
          status: 'modified' as const,
        })),
      ),
    );
  }

  fileAt(commit: Sha, path: string): ReturnType<GitRepository['fileAt']> {
    return this.#calls.run('git.fileAt', () => {
      const text = this.#repository.objects.filesOf(commit).get(path);
      if (text === undefined) return ok(null);
      return ok({ size: text.length, bytes: Buffer.from(text) });
    });
  }

  namesAtRoot(commit: Sha): ReturnType<GitRepository['namesAtRoot']> {
    return this.#calls.run('git.namesAtRoot', () => {
      const names = [...this.#repository.objects.filesOf(commit).keys()];
      return ok([...new Set(names.map((path) => path.split('/', 1)[0] ?? path))]);
    });
  }

  #changed(from: Sha, to: Sha): string[] {
    const { objects } = this.#repository;
    return changedBetween(objects.filesOf(from), objects.filesOf(to));
  }

  isAncestor(ancestor: Sha, descendant: Sha): Promise<boolean> {
    return this.#calls.run('git.isAncestor', () =>
      this.#repository.objects.isAncestor(ancestor, descendant),
    );
  }

  treeOf(commit: Sha): Promise<GitResult<Sha>> {
    return this.#calls.run('git.treeOf', () => ok(this.#repository.objects.commit(commit).tree));
  }

  canonicalBranch(branch: string): Promise<string> {
    return Promise.resolve(branch.replace(/^refs\/heads\//, ''));
  }

  lineCommits(
    from: Sha | null,
    to: Sha,
    limit: number,
    which: 'first-parent' | 'all' = 'first-parent',
  ): ReturnType<GitRepository['lineCommits']> {
    return this.#calls.run('git.lineCommits', () => {
      const { objects } = this.#repository;
      const held = from === null ? new Set<Sha>() : objects.ancestors(from);
      const commits =
        which === 'all'
          ? [...objects.ancestors(to)].map((sha) => objects.commit(sha))
          : objects.firstParents(to);
      return ok(commits.filter(({ sha }) => !held.has(sha)).slice(0, limit));
    });
  }

  mergeBase(one: Sha, two: Sha): Promise<Sha | null> {
    return this.#calls.run('git.mergeBase', () => this.#repository.objects.mergeBase(one, two));
  }

  withoutHeld({ commit }: WithoutHeldRequest): Promise<GitResult<Sha | null>> {
    return this.#calls.run('git.withoutHeld', () => ok(commit));
  }
}
