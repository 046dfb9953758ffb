// Repositories that an agent has made inside its worktree: their commits are fetched before their `.git` goes.

import { mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { err, ok } from '../core/failure.ts';
import type { RepositoryContext } from './context.ts';
import { failureOf } from './failures.ts';
import { copyOfHistory } from './nested-copy.ts';
import { shown, type PathBytes } from './paths.ts';
import type { GitResult } from './port.ts';
import { factsOf } from './small-files.ts';
import { rescueRefFor } from './rescue.ts';
import { linkedWorktrees } from './worktree-link.ts';
import { forgetMissing } from './worktree-metadata.ts';

/** Keeps every ref and HEAD of the repository at `folder` under rescue refs of ours. */
export async function keepNestedHistory(
  context: RepositoryContext,
  folder: string,
  label: string,
): Promise<GitResult<void>> {
  const facts = factsOf(join(folder, '.git'));
  if (facts === null) return ok(undefined);
  if (facts.isFile()) return keepNestedWorktree(context, folder);
  const copy = await copyOfHistory(context, folder);
  if (copy === null) return ok(undefined);
  const base = dirname(rescueRefFor(`${label}/nested`, '0'.repeat(40)));
  const name = copy.headSha?.slice(0, 12) ?? 'refs';
  try {
    const fetched = await context.exclusively(() =>
      context.git([
        'fetch',
        '-q',
        '--no-tags',
        '--no-write-fetch-head',
        '--no-auto-maintenance',
        '--no-recurse-submodules',
        copy.path,
        `+refs/*:${base}/${name}/*`,
        ...(copy.headSha === null ? [] : [`+HEAD:${base}/${name}/HEAD`]),
      ]),
    );
    return fetched.code === 0
      ? ok(undefined)
      : err(failureOf(fetched, `keep the commits of the repository in ${folder}`));
  } finally {
    await rm(copy.path, { recursive: true, force: true });
  }
}

/** A worktree inside a worktree: its commits are in our repository already; what only its HEAD and index hold is kept. */
async function keepNestedWorktree(
  context: RepositoryContext,
  folder: string,
): Promise<GitResult<void>> {
  const inner = linkedWorktrees(context).find((entry) => entry.path === resolve(folder));
  if (!inner) return ok(undefined);
  const forgotten = await forgetMissing(context, inner);
  return forgotten.ok ? ok(undefined) : forgotten;
}

/** Moves a file or folder out of a worktree, to a folder beside it that nothing of ours deletes. */
export async function setAside(path: string, worktree: string): Promise<void> {
  const folder = await mkdtemp(`${worktree}.kept-`);
  await rename(path, join(folder, 'git'));
}

/** Turns nested repositories into plain folders, so that their files can be kept like any others. */
export async function flattenNested(
  context: RepositoryContext,
  root: string,
  nested: readonly PathBytes[],
  label: string,
): Promise<GitResult<void>> {
  for (const path of nested) {
    const folder = join(root, shown(path));
    const kept = await keepNestedHistory(context, folder, label);
    if (kept.ok) await context.trash.take(join(folder, '.git'), root);
    else await setAside(join(folder, '.git'), root);
  }
  return ok(undefined);
}
