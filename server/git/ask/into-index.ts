// Updates an index with files of a worktree: changed, new or removed.

import type { RepositoryContext, RunOptions } from '../context.ts';
import { type PathBytes, zeroEnded } from '../../files/path-bytes.ts';
import type { GitOutput } from '../git-command.ts';
import { factsOfAll } from '../../files/small-files.ts';

export interface IntoIndexOptions extends RunOptions {
  /** Settings for git itself, before its command. */
  readonly settings?: readonly string[];
  /** Flags of the command. */
  readonly flags?: readonly string[];
}

/**
 * `root`: the worktree's root. If a folder was replaced by a link, git refuses its paths and all
 * others with them, so those are removed first.
 */
export async function intoIndex(
  context: RepositoryContext,
  root: string,
  paths: readonly PathBytes[],
  { settings = [], flags = [], ...options }: IntoIndexOptions,
): Promise<GitOutput> {
  const facts = await factsOfAll(root, paths);
  const update = [...settings, 'update-index'];
  const away = facts.filter(({ isBehindLink }) => isBehindLink).map(({ path }) => path);
  if (away.length > 0) {
    const input = zeroEnded(away);
    const removed = await context.git([...update, '--force-remove', '-z', '--stdin'], {
      ...options,
      input,
    });
    if (removed.code !== 0) return removed;
  }
  const input = zeroEnded(
    facts.filter(({ isBehindLink }) => !isBehindLink).map(({ path }) => path),
  );
  const args = [...update, ...flags, '--add', '--remove', '--replace', '-z', '--stdin'];
  return context.git(args, { ...options, input });
}
