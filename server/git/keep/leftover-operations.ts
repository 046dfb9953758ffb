// Handles a merge, rebase or cherry-pick that an agent left unfinished: concludes it if the result
// is clear, otherwise refuses.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { gitFailure } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { isSha } from '../sha.ts';
import { exists, readText } from '../../files/small-files.ts';
import { merge } from '../ask/merges.ts';
import { readTree } from '../ask/ancestry.ts';
import { keepState } from './snapshot.ts';
import { withMarks } from '../ask/conflict-marks.ts';
import type { ParsedStatus } from '../ask/status-format.ts';
import { unfinishedOperation, type UnfinishedOperation } from '../refs/worktree-heads.ts';
import { labelOfBranch } from './work-chain.ts';
import { type LinkedWorktree } from '../refs/worktree-link.ts';

const maxNamedFiles = 10;

/** Everything that an unfinished operation keeps in a worktree's private folder. */
const operationState = [
  'rebase-merge',
  'rebase-apply',
  'sequencer',
  'MERGE_HEAD',
  'MERGE_MSG',
  'MERGE_MODE',
  'MERGE_AUTOSTASH',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'REBASE_HEAD',
  'AUTO_MERGE',
  'SQUASH_MSG',
  'BISECT_LOG',
  'BISECT_START',
  'BISECT_TERMS',
  'BISECT_NAMES',
  'BISECT_EXPECTED_REV',
  'BISECT_ANCESTORS_OK',
  'BISECT_FIRST_PARENT',
];

/**
 * Returns null if nothing prevents a commit. A failure means that the state was stored, and only an
 * agent or a person can finish it.
 */
export async function concludable(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  status: ParsedStatus,
  branch: string,
): Promise<GitResult<UnfinishedOperation | null>> {
  const operation = unfinishedOperation(worktree.gitDir);
  const unmerged = status.entries.filter((entry) => entry.kind === 'unmerged');
  const isUnbegun =
    operation?.kind === 'merge' && (await hasMergedNothing(context, worktree, status));
  const open = await withMarks(
    worktree.path,
    unmerged.map((entry) => entry.path),
  );
  if (operation?.kind !== 'rebase' && open.length === 0 && !isUnbegun) return ok(operation);
  const kept = await keepState(context, {
    worktree,
    status,
    label: labelOfBranch(branch),
    reason: 'end',
    author: 'agent',
  });
  if (!kept.ok) return kept;
  const where = ` Its state is kept under ${kept.value.snapshot.ref}.`;
  const what =
    operation?.kind === 'rebase'
      ? 'The agent left a rebase unfinished'
      : isUnbegun
        ? 'The agent left a merge that brought in nothing of the other side (run "git merge --abort" and merge again)'
        : `The agent left a ${operation?.kind ?? 'merge'} with conflicts in ${open.slice(0, maxNamedFiles).join(', ')}`;
  const refused = gitFailure('failed', `${what} in ${worktree.path}.${where}`, true);
  return err({ ...refused, needsAgent: true });
}

/**
 * If git's merge finds the index locked by another command, it asks for a commit of its result
 * although it has none. That commit would drop all of the other side.
 */
async function hasMergedNothing(
  context: RepositoryContext,
  { gitDir }: LinkedWorktree,
  { head, entries }: ParsedStatus,
): Promise<boolean> {
  // Git records parts that it could not merge by itself. An agent that resolves them may drop the
  // other side.
  if (head === null || exists(join(gitDir, 'AUTO_MERGE'))) return false;
  if (
    entries.some(({ kind, index }) => kind === 'unmerged' || (kind === 'changed' && index !== '.'))
  )
    return false;
  const other = readText(join(gitDir, 'MERGE_HEAD'))?.trim() ?? '';
  if (!isSha(other)) return false;
  const subject = 'drover: look';
  const merged = await merge(context, { tip: head, commit: other, subject, trailers: [] });
  if (!merged.ok || merged.value.kind === 'conflict') return merged.ok;
  const own = await readTree(context, head);
  return own.ok && own.value !== merged.value.tree;
}

/**
 * Ends any unfinished operation without moving HEAD or touching files, because a snapshot contains
 * it.
 */
export async function dropUnfinished(worktree: LinkedWorktree): Promise<void> {
  if (unfinishedOperation(worktree.gitDir) === null) return;
  for (const name of operationState) {
    await rm(join(worktree.gitDir, name), { recursive: true, force: true });
  }
}
