// Restores a snapshot in a slot: its files and its staged changes, on top of the slot's commit.

import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../failures.ts';
import { merge } from '../ask/merges.ts';
import { ownWorktree } from './own-worktree.ts';
import type { GitResult } from '../port.ts';
import type { RestoreOutcome, RestoreRequest, SnapshotView } from '../snapshot-port.ts';
import { readRef } from '../refs/refs.ts';
import { isDirty } from './snapshot.ts';
import { readStatus } from '../ask/status.ts';
import { readSnapshot, workRef, type SnapshotFacts } from './work-chain.ts';
import type { Sha } from '../sha.ts';

/** The last snapshot of an attempt; null if none. */
export async function lastSnapshot(
  context: RepositoryContext,
  label: string,
): Promise<GitResult<SnapshotView | null>> {
  const commit = await readRef(context, workRef(label));
  if (commit === null) return ok(null);
  return readSnapshotCommit(context, commit);
}

export async function readSnapshotCommit(
  context: RepositoryContext,
  commit: Sha,
): Promise<GitResult<SnapshotView>> {
  const facts = await readSnapshot(context, commit);
  return facts.ok ? ok(toSnapshotView(facts.value)) : facts;
}

export function toSnapshotView(facts: SnapshotFacts): SnapshotView {
  const { commit, reason, author, timeMs, head, branch } = facts;
  return { commit, label: attemptIn(facts.label), reason, author, timeMs, head, branch };
}

/** Removes the part that distinguishes the chains of an attempt. */
function attemptIn(label: string): string {
  return /^[^/]+\/\d+(?=\/)/.exec(label)?.[0] ?? label;
}

/** The slot must match its HEAD. Refuses to overwrite anything else. */
export async function restoreSnapshot(
  context: RepositoryContext,
  request: RestoreRequest,
): Promise<GitResult<RestoreOutcome>> {
  const worktree = await ownWorktree(context, request.path);
  if (!worktree.ok) return worktree;
  const at = worktree.value.path;
  const facts = await readSnapshot(context, request.commit);
  if (!facts.ok) return facts;
  const status = await readStatus(context, at);
  if (!status.ok) return status;
  if (isDirty(status.value)) return ok({ kind: 'occupied' });
  const onto = status.value.head;
  if (onto === null) return ok({ kind: 'occupied' });
  const target = await treesOnto(context, facts.value, onto);
  if (!target.ok) return target;
  if (target.value === null) return ok({ kind: 'conflict' });
  const { tree, indexTree } = target.value;
  const written = await context.git(['read-tree', '-m', '-u', 'HEAD', tree], { at });
  if (written.code !== 0) return err(failureOf(written, `restore a snapshot in ${at}`));
  const staged = await context.git(['read-tree', '-m', indexTree ?? 'HEAD'], { at });
  if (staged.code !== 0) return err(failureOf(staged, `restore what was staged in ${at}`));
  return ok({ kind: 'restored' });
}

/**
 * Exact on its own commit. On another commit only the changes since its own are applied, because
 * the commits below may have been rewritten. Returns null if they conflict.
 */
async function treesOnto(
  context: RepositoryContext,
  facts: SnapshotFacts,
  onto: Sha,
): Promise<GitResult<{ readonly tree: Sha; readonly indexTree: Sha | null } | null>> {
  const { head, tree, indexTree, label } = facts;
  if (head === onto) return ok({ tree, indexTree });
  // The branch has no commit, so its files have no base to compare with.
  if (head === null) return ok(null);
  const merged = await merge(context, {
    tip: onto,
    commit: facts.commit,
    base: head,
    subject: `drover: restore a snapshot of ${label}`,
    trailers: [],
  });
  if (!merged.ok) return merged;
  if (merged.value.kind === 'conflict') return ok(null);
  return ok({ tree: merged.value.tree, indexTree: null });
}
