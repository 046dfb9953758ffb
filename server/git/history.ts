// Looks at what lies between two commits.

import { err, ok } from '../core/failure.ts';
import type { RepositoryContext } from './context.ts';
import { failureOf, refuse } from './failures.ts';
import { isSha } from './loose-objects.ts';
import { shown, splitZero } from './paths.ts';
import type { GitResult, Sha } from './port.ts';

const maxSubjects = 10_000;

/** A diff beyond the bound of an answer is cut. Settings and programs of the user do not change its form. */
export async function diff(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
): Promise<GitResult<string>> {
  const args = [
    'diff-tree',
    '-r',
    '-p',
    '-M',
    '--no-color',
    '--no-ext-diff',
    '--no-textconv',
    from,
    to,
  ];
  const output = await between(context, from, to, args, true);
  return output.ok ? ok(output.value.toString('utf8')) : output;
}

export async function changedPaths(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
): Promise<GitResult<readonly string[]>> {
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to];
  const output = await between(context, from, to, args);
  return output.ok ? ok(splitZero(output.value).map(shown)) : output;
}

export async function subjects(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
  limit: number,
): Promise<GitResult<readonly string[]>> {
  const count = Math.max(0, Math.min(maxSubjects, Math.floor(limit)));
  const args = [
    'rev-list',
    `--max-count=${count}`,
    '--no-commit-header',
    '--format=%h %s',
    `${from}..${to}`,
  ];
  const output = await between(context, from, to, args);
  if (!output.ok) return output;
  return ok(
    output.value
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== ''),
  );
}

async function between(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
  args: readonly string[],
  truncate = false,
): Promise<GitResult<Buffer>> {
  for (const sha of [from, to]) {
    if (!isSha(sha)) return refuse('unknown_ref', `"${sha}" has to be a full commit id.`);
  }
  const output = await context.git(args, { truncate });
  if (output.code === 0) return ok(output.stdout);
  return err(failureOf(output, `compare ${from} with ${to}`));
}
