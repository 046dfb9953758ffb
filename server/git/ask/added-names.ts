// Finds names that a commit adds to its base and that cannot be checked out on every system. Names
// that the base already has are accepted.

import { err, ok } from '../../core/failure.ts';
import { caseClashes, whyNotPortable } from '../../core/plan/portable-names.ts';
import type { RepositoryContext } from '../context.ts';
import { shown, splitZero } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { failureOf } from '../failures.ts';
import type { Sha } from '../sha.ts';

/** Maps each path to the reason. */
export type UnportableNames = Readonly<Record<string, string>>;

/**
 * `touched` includes all new paths. Git is asked which of them are new only if one cannot be
 * checked out everywhere.
 */
export async function unportableNames(
  context: RepositoryContext,
  base: Sha,
  tip: Sha,
  touched: readonly string[] | null = null,
): Promise<GitResult<UnportableNames>> {
  if (base === tip) return ok({});
  const asked = touched === null ? await addedPaths(context, base, tip) : ok(touched);
  if (!asked.ok || asked.value.length === 0) return asked.ok ? ok({}) : asked;
  const tree = await context.git(['ls-tree', '-r', '-z', '--name-only', tip]);
  if (tree.code !== 0) return err(failureOf(tree, `list the files of ${tip}`));
  const paths = splitZero(tree.stdout).map(shown);
  const wanted = new Set(asked.value);
  const added = new Set(paths.filter((path) => wanted.has(path)));
  const found: Record<string, string> = {};
  for (const [path, other] of caseClashes(paths, added))
    found[path] = `differs only by case from ${other}`;
  for (const path of added) {
    const why = whyNotPortable(path);
    if (why !== null) found[path] = why;
  }
  const isSure = touched === null || Object.keys(found).length === 0;
  return isSure ? ok(found) : unportableNames(context, base, tip);
}

async function addedPaths(
  context: RepositoryContext,
  base: Sha,
  tip: Sha,
): Promise<GitResult<readonly string[]>> {
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=A'];
  const listed = await context.git([...args, base, tip]);
  if (listed.code !== 0) return err(failureOf(listed, `list what is new in ${tip}`));
  return ok(splitZero(listed.stdout).map(shown));
}
