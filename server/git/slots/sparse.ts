// Sparse checkouts by cone, which make slots of very large repositories cheap.

import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { readText } from '../../files/small-files.ts';
import { forgetConfig, noteConfig } from './slot-config.ts';
import { type LinkedWorktree } from '../refs/worktree-link.ts';

const everything = '(everything)';

/** Sets the cone of a worktree; `null` = none. Does nothing if the slot already has that cone. */
export async function adjustSparse(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  cone: readonly string[] | null,
): Promise<GitResult<void>> {
  const wanted = cone === null ? everything : [...cone].sort().join('\n');
  const present = context.cones.get(worktree.path) ?? initialCone(worktree);
  if (present === wanted) return ok(undefined);
  const args =
    cone === null
      ? ['sparse-checkout', 'disable']
      : ['sparse-checkout', 'set', '--cone', '--sparse-index', '--stdin'];
  await forgetConfig(worktree);
  // It writes the configuration that all worktrees share.
  const output = await context.exclusively(() =>
    context.git([...args], {
      at: worktree.path,
      ...(cone === null ? {} : { input: cone.map((pattern) => `${pattern}\n`).join('') }),
    }),
  );
  if (output.code !== 0) return err(failureOf(output, `make ${worktree.path} sparse`));
  await noteConfig(worktree);
  context.cones.set(worktree.path, wanted);
  return ok(undefined);
}

/** After a restart only one case is certain: a worktree without the setting has all files. */
function initialCone(worktree: LinkedWorktree): string {
  const config = readText(join(worktree.gitDir, 'config.worktree'));
  return config !== null && /sparsecheckout\s*=\s*true/i.test(config) ? '(unknown)' : everything;
}
