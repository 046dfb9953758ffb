// Leftovers of attempts on the shared remote: snapshots, their copies fetched by this clone, and
// branches. They are kept as long as the snapshots of the machine that made them, which may no
// longer exist.

import { droverHeadRoot, headRoot, rescueRoot, workRoot } from '../../core/work/ref-names.ts';
import { err, ok } from '../../core/failure.ts';
import { failureOf } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { updateRefs } from '../refs/refs.ts';
import { privateRef } from './names.ts';
import { pushChanges, type PushDeps } from './pushes.ts';
import { parseListing } from './remote.ts';
import type { Sha } from '../sha.ts';

export interface SharedSnapshot {
  /** Its name on the remote. */
  readonly ref: string;
  readonly commit: Sha;
  /** The task. */
  readonly owner: string;
  readonly place: 'remote' | 'copy';
}

export interface SharedWork {
  list(): Promise<GitResult<readonly SharedSnapshot[]>>;
  /** Removes each snapshot that still has the listed value. */
  remove(snapshots: readonly SharedSnapshot[]): Promise<GitResult<void>>;
}

/** Matches the rest of a ref below each of these roots. Its first segment is the task. */
const left = {
  [workRoot]: /^([^/]+)\/.+$/u,
  [rescueRoot]: /^([^/]+)\/\d+\/.+$/u,
  [droverHeadRoot]: /^([^/]+)\/\d+$/u,
};
const refsAtOnce = 100;

export function sharedWork(deps: PushDeps): SharedWork {
  const { remote } = deps;
  const { context } = remote;
  const listCopies = async (): Promise<GitResult<ReadonlyMap<string, Sha>>> => {
    const copies = privateRef(workRoot);
    const output = await context.git([
      'for-each-ref',
      '--format=%(objectname)%09%(refname)',
      copies,
    ]);
    if (output.code !== 0) return err(failureOf(output, 'list the fetched snapshots'));
    const found = parseListing(output.stdout.toString('utf8'));
    return ok(
      new Map([...found].map(([ref, sha]) => [`${workRoot}${ref.slice(copies.length)}`, sha])),
    );
  };
  return {
    list: async () => {
      const listed = await remote.list(
        [],
        Object.keys(left).map((under) => `${under}*`),
      );
      if (!listed.ok) return listed;
      const copies = await listCopies();
      if (!copies.ok) return copies;
      return ok([
        ...snapshotsOf(parseListing(listed.value), 'remote'),
        ...snapshotsOf(copies.value, 'copy'),
      ]);
    },
    remove: async (snapshots) => {
      // A server that allows no branch to be removed must not prevent the removal of the others.
      const [branches, others] = [true, false].map((isBranch) =>
        snapshots.filter(({ ref }) => ref.startsWith(headRoot) === isBranch),
      );
      const removed = await removeAll(others ?? []);
      return removed.ok ? removeAll(branches ?? []) : removed;
    },
  };

  async function removeAll(snapshots: readonly SharedSnapshot[]): Promise<GitResult<void>> {
    for (let at = 0; at < snapshots.length; at += refsAtOnce) {
      const part = snapshots.slice(at, at + refsAtOnce);
      const changes = part
        .filter(({ place }) => place === 'remote')
        .map(({ ref, commit }) => ({ ref, next: null, old: commit }));
      const pushed = changes.length === 0 ? null : await pushChanges(deps, changes);
      if (pushed?.kind === 'trouble') return err(pushed.failure);
      const copies = part
        .filter(({ place }) => place === 'copy')
        .map(({ ref, commit }) => ({ ref: privateRef(ref), next: null, old: commit }));
      const removed = await updateRefs(context, copies, 'drover: retention');
      // Another machine or a fetch has changed it, so the next run handles the rest.
      if (!removed.ok && removed.error.kind !== 'stale') return removed;
    }
    return ok(undefined);
  }
}

function snapshotsOf(
  refs: ReadonlyMap<string, Sha>,
  place: SharedSnapshot['place'],
): readonly SharedSnapshot[] {
  return [...refs].flatMap(([ref, commit]) => {
    const [under = '', pattern] = Object.entries(left).find(([one]) => ref.startsWith(one)) ?? [];
    const owner = pattern?.exec(ref.slice(under.length))?.[1] ?? 'slots';
    // If a slot's author is unknown, no task's end shows that its snapshots are no longer needed.
    return owner === 'slots' ? [] : [{ ref, commit, owner, place }];
  });
}
