// A commit's work without the files that must never land, and without the history that held them.

import { err, ok } from '../core/failure.ts';
import type { RepositoryContext } from './context.ts';
import { editedTree } from './edited-tree.ts';
import { failureOf } from './failures.ts';
import { isHeldFileName } from './held-files.ts';
import { isSha } from './loose-objects.ts';
import { commitMessage } from './messages.ts';
import { type PathBytes, shown, splitZero } from './paths.ts';
import type { GitResult, Sha, WithoutHeldRequest } from './port.ts';

export interface RangeChanges {
  /** Added or changed by some commit, also where a later one has removed it. */
  readonly present: readonly PathBytes[];
  /** Removed by some commit. */
  readonly removed: readonly PathBytes[];
}

export async function changesOfRange(
  context: RepositoryContext,
  base: Sha,
  head: Sha,
): Promise<GitResult<RangeChanges>> {
  const output = await context.git([
    'log',
    '-z',
    '--format=',
    '-m',
    '--name-status',
    '--no-renames',
    '--diff-filter=AMTD',
    `${base}..${head}`,
    '--',
  ]);
  if (output.code !== 0) return err(failureOf(output, 'list what the agent has committed'));
  const present = new Set<PathBytes>();
  const removed = new Set<PathBytes>();
  // A letter and a path in turn; an empty part, or a line break before the letter, stands between two commits.
  let letter = '';
  for (const part of splitZero(output.stdout)) {
    if (letter === '') letter = part.trim();
    else {
      (letter === 'D' ? removed : present).add(part);
      letter = '';
    }
  }
  return ok({ present: [...present], removed: [...removed] });
}

/** The commit itself when it holds none of them; null when nothing is left without them. */
export async function withoutHeld(
  context: RepositoryContext,
  request: WithoutHeldRequest,
): Promise<GitResult<Sha | null>> {
  const { base, commit } = request;
  const range = await changesOfRange(context, base, commit);
  if (!range.ok) return range;
  const named = new Set(request.held);
  const held = range.value.present.filter(
    (path) => named.has(shown(path)) || isHeldFileName(shown(path)),
  );
  if (held.length === 0) return ok(commit);
  return squash(context, request, held);
}

async function squash(
  context: RepositoryContext,
  { base, commit, subject, trailers }: WithoutHeldRequest,
  held: readonly PathBytes[],
): Promise<GitResult<Sha | null>> {
  const listed = await context.git(['--literal-pathspecs', 'ls-tree', '-r', '-z', base]);
  if (listed.code !== 0) return err(failureOf(listed, `list the files of ${base}`));
  const wanted = new Set(held);
  const before = splitZero(listed.stdout).filter((entry) =>
    wanted.has(entry.slice(entry.indexOf('\t') + 1)),
  );
  const edited = await editedTree(context, commit, { remove: held, entries: before });
  if (!edited.ok) return edited;
  const tree = edited.value;
  const same = await context.git(['diff-tree', '--quiet', base, tree]);
  if (same.code === 0) return ok(null);
  const made = await context.git(['commit-tree', tree, '-p', base, '-F', '-'], {
    input: commitMessage(subject, trailers),
    env: context.identity(),
  });
  const sha = made.stdout.toString('utf8').trim();
  if (made.code !== 0 || !isSha(sha)) return err(failureOf(made, 'commit what may land'));
  context.commits.remember(sha, { tree, parents: [base] });
  return ok(sha);
}
