// Files that must never be committed, but that an agent has committed itself.

import { err, ok } from '../core/failure.ts';
import type { RepositoryContext } from './context.ts';
import { failureOf } from './failures.ts';
import { isHeldFileName } from './held-files.ts';
import { isIgnoreFile } from './ignore-rules.ts';
import { shown, splitZero } from './paths.ts';
import type { GitResult, Sha } from './port.ts';
import { factsOfAll } from './small-files.ts';

export interface CommittedRange {
  readonly base: Sha;
  readonly head: Sha;
  readonly maxFileSize: number;
}

/** Added or changed between base and head. Sizes are taken from the worktree, which saves a process. */
export async function heldInCommits(
  context: RepositoryContext,
  worktree: string,
  range: CommittedRange,
): Promise<GitResult<readonly string[]>> {
  const output = await context.git(
    [
      'diff-tree',
      '-r',
      '-z',
      '--name-only',
      '--no-renames',
      '--diff-filter=AMT',
      range.base,
      range.head,
    ],
    { at: worktree },
  );
  if (output.code !== 0) return err(failureOf(output, 'list what the agent has committed'));
  const paths = splitZero(output.stdout);
  if (paths.some(isIgnoreFile)) context.ignores.touched();
  const facts = await factsOfAll(worktree, paths);
  const held = facts.filter(
    ({ path, stats }) =>
      isHeldFileName(shown(path)) || (stats?.isFile() === true && stats.size > range.maxFileSize),
  );
  return ok(held.map(({ path }) => shown(path)));
}
