// Snapshots of the simulated repository: like the real ones, but without an index.

import type {
  RestoreOutcome,
  Snapshot,
  SnapshotRequest,
  SnapshotView,
} from '../../server/git/snapshot-port.ts';
import type { SimulatedRepository, SimulatedWorktree } from './simulated-repository.ts';
import type { Sha } from '../../server/git/sha.ts';

export function snapshotOf(
  repository: SimulatedRepository,
  worktree: SimulatedWorktree,
  head: Sha,
  { label, base, reason }: SnapshotRequest,
): Snapshot | null {
  const isDirty = repository.changedIn(worktree).length > 0;
  const isOnBranch = worktree.branch === `refs/heads/drover/${label}`;
  if (!isDirty && (head === base || (isOnBranch && reason === 'interval'))) return null;
  const { ref, sha, isNew } = repository.chain(label, head, worktree.files);
  return { ref, commit: sha, isNew };
}

export function viewOf(repository: SimulatedRepository, commit: Sha): SnapshotView {
  const { subject, parents } = repository.objects.commit(commit);
  const label = subject.replace('drover: snapshot of ', '');
  const about = { reason: 'kept', author: 'agent', timeMs: 0, branch: null } as const;
  return { commit, label, head: parents[0] ?? null, ...about };
}

export function restoreInto(
  repository: SimulatedRepository,
  worktree: SimulatedWorktree,
  head: Sha,
  commit: Sha,
): RestoreOutcome {
  if (repository.changedIn(worktree).length > 0) return { kind: 'occupied' };
  const { parents } = repository.objects.commit(commit);
  const own = parents[0];
  if (own === head) {
    worktree.files = new Map(repository.objects.filesOf(commit));
    return { kind: 'restored' };
  }
  if (own === undefined) return { kind: 'conflict' };
  const { files, conflicts } = repository.objects.mergeFiles(head, commit, own);
  if (conflicts.length > 0) return { kind: 'conflict' };
  worktree.files = new Map(files);
  return { kind: 'restored' };
}
