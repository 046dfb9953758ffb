// Finds snapshots of attempts wherever they were made. Those of other machines are on the remote.

import { ok } from '../../core/failure.ts';
import type { GitResult } from '../port.ts';
import type { SnapshotView } from '../snapshot-port.ts';
import type { LocalRepository } from '../local-port.ts';
import { listSnapshots, snapshotsPrefix } from '../keep/snapshot-list.ts';
import { workRef } from '../keep/work-chain.ts';
import type { RemoteRefs } from './remote-refs.ts';
import { privateRef } from './names.ts';
import type { Presence } from './presence.ts';
import type { Remote } from './remote.ts';
import type { Sha } from '../sha.ts';

interface Deps {
  readonly local: LocalRepository;
  readonly remoteRefs: RemoteRefs;
  readonly presence: Presence;
}

/** All snapshots of a task. While the remote is unreachable, only the local ones. */
export async function allSnapshots(
  { remote, report }: { readonly remote: Remote; readonly report: Report },
  taskId: string,
  bases: readonly Sha[],
): Promise<GitResult<readonly SnapshotView[]>> {
  const pattern = snapshotsPrefix(taskId);
  const theirs = privateRef(pattern);
  const fetched = await remote.fetch([`+${pattern}*:${theirs}*`], ['--prune']);
  if (!fetched.ok) report(fetched.error, `looking for the snapshots of ${taskId}`);
  return listSnapshots(remote.context, taskId, bases, [theirs]);
}

type Report = (error: unknown, doing: string) => void;

export async function lastSnapshot(
  { local, remoteRefs, presence }: Deps,
  label: string,
  where?: 'anywhere',
): Promise<GitResult<SnapshotView | null>> {
  const own = await local.lastSnapshot(label);
  if (where === undefined || !own.ok || own.value !== null) return own;
  const pushed = await remoteRefs.read(workRef(label), 'now');
  if (!pushed.ok || pushed.value === null) return pushed.ok ? ok(null) : pushed;
  const present = await presence.ensure([pushed.value]);
  return present.ok ? local.snapshotAt(pushed.value) : present;
}
