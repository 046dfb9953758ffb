// Whether the objects that refs were just moved to are complete: a prune by another process may
// have removed some of them before.

import type { RepositoryContext } from '../context.ts';
import type { Sha } from '../sha.ts';

/**
 * Costs a process only where a prune was seen within the last hour. `others`: revisions that count
 * as whole.
 */
export async function isWhole(
  context: RepositoryContext,
  commits: readonly Sha[],
  others: readonly string[],
): Promise<boolean> {
  if (commits.length === 0) return true;
  await context.prunes.outlastGc();
  if (!context.prunes.isSuspect()) return true;
  if (await walks(context, [...commits, '--not', ...others])) return true;
  // What else is in the repository may be the broken one.
  return walks(context, commits);
}

/** True as well when git was stopped: that is no sign of a loss. */
export async function walks(
  context: RepositoryContext,
  revisions: readonly string[],
): Promise<boolean> {
  const args = ['rev-list', '--objects', '--quiet', '--exclude-promisor-objects', ...revisions];
  const output = await context.git(args);
  return output.code === 0 || output.problem !== null;
}
