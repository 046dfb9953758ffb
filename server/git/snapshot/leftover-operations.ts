// A merge, rebase or cherry-pick that an agent has left unfinished: concluded where its meaning is
// plain, refused elsewhere.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { gitFailure } from '../process/failures.ts';
import type { GitResult } from '../port.ts';
import { keepState } from './snapshot.ts';
import { withMarks } from '../read/conflict-marks.ts';
import type { ParsedStatus } from '../read/status-format.ts';
import { unfinishedOperation, type UnfinishedOperation } from '../refs/worktree-heads.ts';
import { labelOfBranch } from '../work/work-chain.ts';
import { type LinkedWorktree } from '../files/worktree-link.ts';

const maxNamedFiles = 10;

/** Everything an unfinished operation keeps in the private folder of a worktree. */
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
 * Null: nothing is in the way of a commit. A failure: the state was rescued, and only an agent or a
 * person can finish it.
 */
export async function concludable(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  status: ParsedStatus,
  branch: string,
): Promise<GitResult<UnfinishedOperation | null>> {
  const operation = unfinishedOperation(worktree.gitDir);
  const unmerged = status.entries.filter((entry) => entry.kind === 'unmerged');
  if (operation?.kind !== 'rebase' && unmerged.length === 0) return ok(operation);
  const open = await withMarks(
    worktree.path,
    unmerged.map((entry) => entry.path),
  );
  if (operation?.kind !== 'rebase' && open.length === 0) return ok(operation);
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
      : `The agent left a ${operation?.kind ?? 'merge'} with conflicts in ${open.slice(0, maxNamedFiles).join(', ')}`;
  return err(gitFailure('failed', `${what} in ${worktree.path}.${where}`, true));
}

/** Ends whatever is unfinished without moving HEAD or touching a file: a snapshot holds it. */
export async function dropUnfinished(worktree: LinkedWorktree): Promise<void> {
  if (unfinishedOperation(worktree.gitDir) === null) return;
  for (const name of operationState) {
    await rm(join(worktree.gitDir, name), { recursive: true, force: true });
  }
}
