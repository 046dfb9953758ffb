// Snapshots on the shared remote, and the copies of them that this clone has fetched: kept for as long as those of the
// machine that made them, which may be gone itself.

import { err, ok } from '../../core/failure.ts';
import { failureOf } from '../failures.ts';
import type { GitResult, Sha } from '../port.ts';
import { updateRefs } from '../refs.ts';
import { privateRef } from './names.ts';
import { pushChanges, type PushParts } from './pushes.ts';
import { parseListing } from './remote.ts';

export interface SharedSnapshot {
  /** As it is named on the remote. */
  readonly ref: string;
  readonly commit: Sha;
  /** The task. */
  readonly owner: string;
  readonly place: 'remote' | 'copy';
}

export interface SharedWork {
  list(): Promise<GitResult<readonly SharedSnapshot[]>>;
  /** Each is removed if it still is what was listed. */
  remove(snapshots: readonly SharedSnapshot[]): Promise<GitResult<void>>;
}

const root = 'refs/drover/work/';
const refsAtOnce = 100;

export function sharedWork(parts: PushParts): SharedWork {
  const { remote } = parts;
  const { context } = remote;
  const listCopies = async (): Promise<GitResult<ReadonlyMap<string, Sha>>> => {
    const copies = privateRef(root);
    const output = await context.git([
      'for-each-ref',
      '--format=%(objectname)%09%(refname)',
      copies,
    ]);
    if (output.code !== 0) return err(failureOf(output, 'list the fetched snapshots'));
    const found = parseListing(output.stdout.toString('utf8'));
    return ok(new Map([...found].map(([ref, sha]) => [`${root}${ref.slice(copies.length)}`, sha])));
  };
  return {
    list: async () => {
      const listed = await remote.list([], [`${root}*`]);
      if (!listed.ok) return listed;
      const copies = await listCopies();
      if (!copies.ok) return copies;
      return ok([
        ...snapshotsOf(parseListing(listed.value), 'remote'),
        ...snapshotsOf(copies.value, 'copy'),
      ]);
    },
    remove: async (snapshots) => {
      for (let at = 0; at < snapshots.length; at += refsAtOnce) {
        const part = snapshots.slice(at, at + refsAtOnce);
        const changes = part
          .filter(({ place }) => place === 'remote')
          .map(({ ref, commit }) => ({ ref, next: null, old: commit }));
        const pushed = changes.length === 0 ? null : await pushChanges(parts, changes);
        if (pushed?.kind === 'trouble') return err(pushed.failure);
        const copies = part
          .filter(({ place }) => place === 'copy')
          .map(({ ref, commit }) => ({ ref: privateRef(ref), next: null, old: commit }));
        const removed = await updateRefs(context, copies, 'drover: retention');
        // Another machine, or a fetch, was there in between: what is left is looked at the next time.
        if (!removed.ok && removed.error.kind !== 'stale') return removed;
      }
      return ok(undefined);
    },
  };
}

function snapshotsOf(
  refs: ReadonlyMap<string, Sha>,
  place: SharedSnapshot['place'],
): readonly SharedSnapshot[] {
  return [...refs].flatMap(([ref, commit]) => {
    const [owner = '', ...rest] = ref.slice(root.length).split('/');
    // Of slots whose author is unknown: no task's end says that they are not needed.
    return owner === '' || owner === 'slots' || rest.length === 0
      ? []
      : [{ ref, commit, owner, place }];
  });
}
