// Creates a commit of a tree that is not on any branch.

import type { RepositoryContext } from '../context.ts';
import { printedId } from '../failures.ts';
import type { GitResult } from '../port.ts';
import type { Sha } from '../sha.ts';

export interface NewCommit {
  readonly tree: Sha;
  readonly parents: readonly Sha[];
  readonly message: string;
}

/** `doing` completes "Git could not …". */
export async function makeCommit(
  context: RepositoryContext,
  { tree, parents, message }: NewCommit,
  doing: string,
): Promise<GitResult<Sha>> {
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
  const output = await context.git(args, { input: message, env: await context.identity() });
  const made = printedId(output, doing);
  if (made.ok) context.objects.remember(made.value, { tree, parents });
  return made;
}
