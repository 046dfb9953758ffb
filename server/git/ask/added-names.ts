// Names that a commit adds to its base and that cannot be checked out on every system. Names that
// the base has already are the project's own.

import { err, ok } from '../../core/failure.ts';
import { caseClashes, whyNotPortable } from '../../core/plan/portable-names.ts';
import type { RepositoryContext } from '../context.ts';
import { shown, splitZero } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { failureOf } from '../failures.ts';
import type { Sha } from '../sha.ts';

/** Path → why. */
export type UnportableNames = Readonly<Record<string, string>>;

export async function unportableNames(
  context: RepositoryContext,
  base: Sha,
  tip: Sha,
): Promise<GitResult<UnportableNames>> {
  if (base === tip) return ok({});
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=A'];
  const listed = await context.git([...args, base, tip]);
  if (listed.code !== 0) return err(failureOf(listed, `list what is new in ${tip}`));
  const added = new Set(splitZero(listed.stdout).map(shown));
  if (added.size === 0) return ok({});
  const tree = await context.git(['ls-tree', '-r', '-z', '--name-only', tip]);
  if (tree.code !== 0) return err(failureOf(tree, `list the files of ${tip}`));
  const found: Record<string, string> = {};
  for (const [path, other] of caseClashes(splitZero(tree.stdout).map(shown), added))
    found[path] = `differs only by case from ${other}`;
  for (const path of added) {
    const why = whyNotPortable(path);
    if (why !== null) found[path] = why;
  }
  return ok(found);
}
