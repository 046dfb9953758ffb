// Takes files of a worktree into an index as they are: changed, new or gone.

import type { RepositoryContext, RunOptions } from '../context.ts';
import { type PathBytes, zeroEnded } from '../../files/path-bytes.ts';
import type { GitOutput } from '../git-command.ts';
import { factsOfAll } from '../../files/small-files.ts';

export interface IntoIndexOptions extends RunOptions {
  /** Settings of git itself, before its command. */
  readonly settings?: readonly string[];
  /** Flags of the command. */
  readonly flags?: readonly string[];
}

/**
 * `root`: of the worktree. Git refuses every path of a folder that is a link now, and with it all
 * others: those are taken out first.
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
