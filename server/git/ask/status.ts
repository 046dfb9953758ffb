// Reads the state of one worktree with one process.

import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, gitFailure, refuse } from '../failures.ts';
import { shown } from '../../files/path-bytes.ts';
import { markedSince } from './conflict-marks.ts';
import { parseStatus, statusArguments, type ParsedStatus } from './status-format.ts';
import type { GitResult, WorktreeStatus } from '../port.ts';
import type { Sha } from '../sha.ts';
import { unfinishedOperation } from '../refs/worktree-heads.ts';
import { canonicalPath, findWorktree } from '../refs/worktree-link.ts';

export interface StatusOptions {
  /** Also lists ignored files. A folder that is ignored as a whole is one entry. */
  readonly ignored?: boolean;
}

export async function readStatus(
  context: RepositoryContext,
  path: string,
  options: StatusOptions = {},
): Promise<GitResult<ParsedStatus>> {
  const args = options.ignored ? [...statusArguments, '--ignored=matching'] : statusArguments;
  const output = await context.git(args, { at: path });
  if (output.code !== 0)
    return { ok: false, error: failureOf(output, `read the state of ${path}`) };
  return ok(parseStatus(output.stdout, output.stderr));
}

export async function worktreeStatus(
  context: RepositoryContext,
  path: string,
  marksSince?: Sha,
): Promise<GitResult<WorktreeStatus>> {
  const found = findWorktree(context, canonicalPath(path));
  if (found.kind === 'foreign' && canonicalPath(path) !== context.root) {
    return refuse('foreign', `${path} is not a worktree of this repository.`);
  }
  const status = await readStatus(context, path);
  if (!status.ok) return status;
  const { head, branch, entries } = status.value;
  if (head === null) {
    return {
      ok: false,
      error: gitFailure(
        'no_commit',
        `The branch that is checked out in ${path} has no commit yet.`,
      ),
    };
  }
  return ok({
    head,
    branch,
    changed: entries.filter((entry) => entry.kind !== 'ignored').map((entry) => shown(entry.path)),
    untracked: entries
      .filter((entry) => entry.kind === 'untracked')
      .map((entry) => shown(entry.path)),
    ...(marksSince !== undefined &&
      found.kind === 'linked' && {
        unfinished: {
          operation: unfinishedOperation(found.worktree.gitDir)?.kind ?? null,
          marked: await markedSince(context, path, marksSince, entries),
        },
      }),
  });
}
