// Who descends from whom. Short distances are walked in this process; git is asked for the rest, and answers are kept.

import { err, ok } from '../core/failure.ts';
import type { RepositoryContext } from './context.ts';
import { failureOf, refuse } from './failures.ts';
import { isSha } from './loose-objects.ts';
import type { GitResult, Sha } from './port.ts';

const maxFirstParentSteps = 64;

export async function isAncestor(
  context: RepositoryContext,
  ancestor: Sha,
  descendant: Sha,
): Promise<boolean> {
  if (ancestor === descendant) return true;
  if (!isSha(ancestor) || !isSha(descendant)) return false;
  if ((await firstParentDistance(context, ancestor, descendant)) !== null) return true;
  const output = await context.git(['merge-base', '--is-ancestor', ancestor, descendant]);
  return output.code === 0;
}

/** Steps along first parents, as far as object files tell; null = not found that way. Direct other parents count as one. */
async function firstParentDistance(
  context: RepositoryContext,
  ancestor: Sha,
  descendant: Sha,
): Promise<number | null> {
  let at = descendant;
  for (let steps = 0; steps < maxFirstParentSteps; steps += 1) {
    if (at === ancestor) return steps;
    const commit = await context.commits.read(at);
    if (commit?.parents.includes(ancestor)) return steps + 1;
    const next = commit?.parents[0];
    if (next === undefined) return null;
    at = next;
  }
  return null;
}

/** Number of commits on the first-parent line of `to` that `from` does not contain. */
export async function firstParentCount(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
): Promise<number> {
  const args = ['rev-list', '--count', '--first-parent', `${from}..${to}`];
  const output = await context.git(args);
  const count = Number.parseInt(output.stdout.toString('utf8'), 10);
  return output.code === 0 && Number.isFinite(count) ? count : 0;
}

export async function treeOf(context: RepositoryContext, commit: Sha): Promise<GitResult<Sha>> {
  const loose = await context.commits.read(commit);
  if (loose) return ok(loose.tree);
  if (!isSha(commit)) return refuse('unknown_ref', `"${commit}" is not a commit id.`);
  const output = await context.git(['rev-parse', '--verify', '-q', `${commit}^{tree}`]);
  const tree = output.stdout.toString('utf8').trim();
  if (output.code === 0 && isSha(tree)) return ok(tree);
  if (output.problem !== null) return err(failureOf(output, `read commit ${commit}`));
  return refuse('unknown_ref', `There is no commit ${commit} in this repository.`);
}
