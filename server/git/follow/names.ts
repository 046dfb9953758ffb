// The names of files that differ, as listed by git.

import type { RepositoryContext } from '../context.ts';
import { type PathBytes, splitZero } from '../../files/path-bytes.ts';
import type { Sha } from '../sha.ts';

/** The move of a branch between two commits. */
export interface FollowStep {
  readonly from: Sha;
  readonly to: Sha;
}

/** Returns null if git cannot tell. */
export async function listPaths(
  context: RepositoryContext,
  [command = '', ...args]: readonly string[],
  at?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ReadonlySet<PathBytes> | null> {
  const how = ['--name-only', '-z', '--no-renames'];
  const output = await context.git(
    [command, ...how, ...args],
    at === undefined ? {} : { at, env, waitForLocks: false },
  );
  return output.code === 0 ? new Set(splitZero(output.stdout)) : null;
}
