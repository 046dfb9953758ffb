// Commits exactly the entries that were checked.

import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../failures.ts';
import { exists, readText } from '../../files/small-files.ts';
import { intoIndex } from '../ask/into-index.ts';
import type { GitResult } from '../port.ts';
import type { StatusEntry } from '../ask/status-format.ts';
import { merge } from '../ask/merges.ts';
import { dropUnfinished } from './leftover-operations.ts';
import { commitMessage } from '../refs/messages.ts';
import { readRef } from '../refs/refs.ts';
import { readHead } from '../refs/worktree-heads.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import { isSha, type Sha } from '../sha.ts';
import type { CommitLeftoversRequest } from '../slot-port.ts';

/** Commits the given paths and staged entries. Returns null if nothing differs. */
export async function commitEntries(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  entries: readonly StatusEntry[],
  request: CommitLeftoversRequest,
): Promise<GitResult<Sha | null>> {
  const concluded = await concludeMerge(context, worktree, request);
  if (!concluded.ok) return concluded;
  const unstagedPaths = entries
    .filter((entry) => entry.kind !== 'changed' || entry.worktree !== '.')
    .map((entry) => entry.path);
  if (unstagedPaths.length > 0) {
    // `add -A` is not used, because it would search again and could find more files than were
    // checked.
    const { path: at } = worktree;
    const added = await intoIndex(context, at, unstagedPaths, { at });
    if (added.code !== 0) return err(failureOf(added, `add the files left in ${worktree.path}`));
  }
  const output = await context.git(
    [
      'commit',
      '-q',
      '--cleanup=whitespace',
      ...(request.runHooks ? [] : ['--no-verify']),
      '-F',
      '-',
    ],
    {
      at: worktree.path,
      input: commitMessage(request.subject, request.trailers),
      env: await context.identity(request.signature),
      userHooks: request.runHooks,
    },
  );
  if (output.code === 0) return ok(await headCommit(context, worktree));
  const difference = await context.git(['diff-index', '--cached', '--quiet', 'HEAD'], {
    at: worktree.path,
  });
  // Only line endings differ, which `status` reports and a commit does not contain.
  if (difference.code === 0 && output.problem === null) return ok(concluded.value);
  return err(failureOf(output, `commit the files left in ${worktree.path}`));
}

/**
 * Commits an unfinished merge that git can make by itself, below the agent's other changes. A
 * user's rebase repeats merges, and would lose content that only the merge commit has. Returns null
 * if no such merge is unfinished.
 */
async function concludeMerge(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  { subject, trailers }: CommitLeftoversRequest,
): Promise<GitResult<Sha | null>> {
  const other = readText(join(worktree.gitDir, 'MERGE_HEAD'))?.trim() ?? '';
  // Git's own commit would reapply the stash that such a merge creates.
  const isPlain = isSha(other) && !exists(join(worktree.gitDir, 'MERGE_AUTOSTASH'));
  const tip = isPlain ? await headCommit(context, worktree) : null;
  if (tip === null) return ok(null);
  const merged = await merge(context, { tip, commit: other, subject, trailers });
  if (!merged.ok || merged.value.kind === 'conflict') return ok(null);
  const { commit } = merged.value;
  const args = ['update-ref', '-m', 'drover: conclude the merge', 'HEAD', commit, tip];
  const moved = await context.git(args, { at: worktree.path });
  if (moved.code !== 0) return err(failureOf(moved, `conclude the merge in ${worktree.path}`));
  await dropUnfinished(worktree);
  return ok(commit);
}

/** The commit of HEAD, read from files if refs are files. */
async function headCommit(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<Sha | null> {
  if (context.refsAreFiles) {
    const head = readHead(worktree.gitDir);
    const sha = head.branch === null ? head.detachedAt : await readRef(context, head.branch);
    if (sha !== null) return sha;
  }
  const output = await context.git(['rev-parse', '--verify', '-q', 'HEAD'], { at: worktree.path });
  return output.stdout.toString('utf8').trim() || null;
}
