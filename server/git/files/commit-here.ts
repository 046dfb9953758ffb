// Makes a commit of Drover's own without a process, where it comes out as git would make it.

import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import type { Sha } from '../sha.ts';
import { writeCommit } from './write-commit.ts';

export interface CommitHere {
  readonly tree: Sha;
  readonly parents: readonly Sha[];
  readonly message: string;
  /** Parents that refs lead to, so that no prune removes them. */
  readonly held?: readonly Sha[];
}

/** Null: a process is needed, also to check whether a pruned parent still exists. */
export function commitHere(
  context: RepositoryContext,
  { tree, parents, message, held = [] }: CommitHere,
): Sha | null {
  const signatures = context.signatures();
  if (signatures === null) return null;
  const isThere = (parent: Sha): boolean =>
    held.includes(parent) || context.commits.isLoose(parent);
  if (!parents.every(isThere)) return null;
  const objects = join(context.commonDir, 'objects');
  return writeCommit(objects, { tree, parents, ...signatures, message, atMs: Date.now() });
}
