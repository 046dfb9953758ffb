// Index entries with flags that make git ignore them, so that status does not show changes to their
// files.

import type { RepositoryContext, RunOptions } from '../context.ts';
import { splitZero, type PathBytes } from '../../files/path-bytes.ts';

/** Returns null if git cannot read the index. `flags`: for git itself. */
export async function unwatchedEntries(
  context: RepositoryContext,
  options: RunOptions,
  flags: readonly string[] = [],
): Promise<readonly PathBytes[] | null> {
  const listed = await context.git([...flags, 'ls-files', '-v', '-z'], options);
  if (listed.code !== 0) return null;
  // One letter each: lower case if git assumes the file unchanged, S if it skips it.
  return splitZero(listed.stdout)
    .filter((line) => /^[a-zS]/u.test(line))
    .map((line) => line.slice(2));
}
