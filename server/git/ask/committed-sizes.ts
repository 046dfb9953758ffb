// Sizes of files as stored by git. A filter such as Git LFS stores a large file as a small pointer.

import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { splitZero, zeroEnded, type PathBytes } from '../../files/path-bytes.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { GitResult } from '../port.ts';
import { failureOf } from '../failures.ts';

/** Returns the given files that are too large on disk but small in git's storage. */
export async function smallAsStored(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  large: readonly PathBytes[],
  maxBytes: number,
): Promise<ReadonlySet<PathBytes>> {
  const filtered = await withFilter(context, worktree, large);
  if (filtered.length === 0) return new Set();
  const at = worktree.path;
  // Stores them as `add` would, so that the following commit finds them.
  const args = ['hash-object', '-w', '--stdin-paths'];
  const stored = await context.git(args, { at, input: lines(filtered) });
  if (stored.code !== 0) return new Set();
  const ids = stored.stdout.toString('latin1').trimEnd();
  const measured = await context.git(['cat-file', '--batch-check=%(objectsize)'], {
    at,
    input: `${ids}\n`,
  });
  const sizes = measured.stdout.toString('latin1').trimEnd().split('\n');
  if (measured.code !== 0 || sizes.length !== filtered.length) return new Set();
  return new Set(filtered.filter((_, index) => Number(sizes[index]) <= maxBytes));
}

/** Paths with content above the limit in any of the given revisions. Removed files have no size. */
export async function tooLargeAmong(
  context: RepositoryContext,
  blobs: ReadonlyMap<PathBytes, ReadonlySet<string>>,
  maxBytes: number,
): Promise<GitResult<ReadonlySet<PathBytes>>> {
  const asked = [...new Set([...blobs.values()].flatMap((names) => [...names]))];
  const names = asked.filter((name) => !name.includes('\n'));
  if (names.length === 0) return ok(new Set());
  const args = ['cat-file', '--batch-check=%(objectsize)'];
  const measured = await context.git(args, { input: lines(names) });
  if (measured.code !== 0) return err(failureOf(measured, 'measure what the agent has committed'));
  const sizes = measured.stdout.toString('latin1').split('\n').map(Number);
  const large = new Set(names.filter((_, index) => (sizes[index] ?? 0) > maxBytes));
  const paths = [...blobs].filter(([, of]) => [...of].some((name) => large.has(name)));
  return ok(new Set(paths.map(([path]) => path)));
}

function lines(paths: readonly PathBytes[]): Buffer {
  return Buffer.from(`${paths.join('\n')}\n`, 'latin1');
}

async function withFilter(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  paths: readonly PathBytes[],
): Promise<readonly PathBytes[]> {
  // Git's list of lines cannot contain these names, so the files count as large.
  const plain = paths.filter((path) => !path.includes('\n') && !path.startsWith('"'));
  if (plain.length === 0) return [];
  const args = ['check-attr', '-z', '--stdin', 'filter'];
  const output = await context.git(args, { at: worktree.path, input: zeroEnded(plain) });
  if (output.code !== 0) return [];
  const words = splitZero(output.stdout);
  const named: PathBytes[] = [];
  for (let at = 0; at + 2 < words.length; at += 3) {
    const value = words[at + 2] ?? '';
    if (value !== 'unspecified' && value !== 'unset') named.push(words[at] ?? '');
  }
  return named;
}
