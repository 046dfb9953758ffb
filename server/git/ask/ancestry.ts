// Ancestry queries. Short distances are walked commit by commit; git answers the rest, and answers
// are cached.

import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, refuse } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { isSha, type Sha } from '../sha.ts';

export async function isAncestor(
  context: RepositoryContext,
  ancestor: Sha,
  descendant: Sha,
): Promise<boolean> {
  if (ancestor === descendant) return true;
  if (!isSha(ancestor) || !isSha(descendant)) return false;
  if (await isOnFirstParentLine(context, ancestor, descendant)) return true;
  // History has no cycles, so a descendant of a commit cannot be its ancestor.
  if (await isOnFirstParentLine(context, descendant, ancestor)) return false;
  const question = `${ancestor} ${descendant}`;
  const known = context.objects.answer(question);
  if (known !== undefined) return known;
  const output = await context.git(['merge-base', '--is-ancestor', ancestor, descendant]);
  // Other exit codes mean that a commit is missing. It may arrive later.
  if (output.code === 0 || output.code === 1) {
    context.objects.rememberAnswer(question, output.code === 0);
  }
  return output.code === 0;
}

/** Maximum number of steps. Steps through commits that this process has cached are cheap. */
const maxKnownSteps = 10_000;
const maxReadSteps = 64;

/**
 * True if `ancestor` is on the first-parent line of `descendant`, or was merged directly into it.
 */
export async function isOnFirstParentLine(
  context: RepositoryContext,
  ancestor: Sha,
  descendant: Sha,
): Promise<boolean> {
  for await (const { sha, parents } of firstParentLine(context, descendant)) {
    if (sha === ancestor || parents.includes(ancestor)) return true;
  }
  return false;
}

/** The latest part of a first-parent line. */
async function* firstParentLine(
  context: RepositoryContext,
  from: Sha,
): AsyncGenerator<{ readonly sha: Sha; readonly parents: readonly Sha[] }> {
  let sha: Sha | undefined = from;
  let reads = 0;
  for (let steps = 0; sha !== undefined && steps < maxKnownSteps; steps += 1) {
    let commit = context.objects.known(sha);
    if (commit === null) {
      if (reads === maxReadSteps) return;
      reads += 1;
      commit = await context.objects.commit(sha);
    }
    if (commit === null) return;
    yield { sha, parents: commit.parents };
    sha = commit.parents[0];
  }
}

/** Counts commits on the first-parent line of `to` that `from` does not contain. */
export async function firstParentCount(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
): Promise<number> {
  let passed = 0;
  for await (const { sha, parents } of firstParentLine(context, to)) {
    if (sha === from) return passed;
    // Behind this merge the line itself may belong to `from`, which only git can tell.
    if (parents.slice(1).includes(from)) break;
    passed += 1;
  }
  const args = ['rev-list', '--count', '--first-parent', `${from}..${to}`];
  const output = await context.git(args);
  const count = Number.parseInt(output.stdout.toString('utf8'), 10);
  return output.code === 0 && Number.isFinite(count) ? count : 0;
}

export async function readTree(context: RepositoryContext, commit: Sha): Promise<GitResult<Sha>> {
  const known = await context.objects.commit(commit);
  if (known !== null) return ok(known.tree);
  if (!isSha(commit)) return refuse('unknown_ref', `"${commit}" is not a commit id.`);
  const output = await context.git(['rev-parse', '--verify', '-q', `${commit}^{tree}`]);
  const tree = output.stdout.toString('utf8').trim();
  if (output.code === 0 && isSha(tree)) return ok(tree);
  if (output.problem !== null) return err(failureOf(output, `read commit ${commit}`));
  return refuse('unknown_ref', `Commit ${commit} does not exist in this repository.`);
}
