// Checks a checkout after its branch has moved. A `git switch`, `git merge` or `git clean` that the
// user runs at the same time can leave files of the previous commit or remove new ones. Git shows
// such files as changed. Drover reports them, and fixes them only at the user's request.

import { join } from 'node:path';
import { ok } from '../../core/failure.ts';
import { wrongFilesMax, type WrongFiles } from '../../core/work/wrong-state.ts';
import type { RepositoryContext } from '../context.ts';
import { type PathBytes, shown, zeroEnded } from '../../files/path-bytes.ts';
import { exists } from '../../files/small-files.ts';
import { failureOf } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { isAncestor } from '../ask/ancestry.ts';
import { branchHolders, type WorktreeHead } from '../refs/worktree-heads.ts';
import { readRef } from '../refs/refs.ts';
import type { Sha } from '../sha.ts';
import { type FollowStep, listPaths } from './names.ts';
import { takeOnWritten } from './written-files.ts';

/** Returns null if the files are correct, or if an operation is in progress there. */
export async function lookAtCheckouts(
  context: RepositoryContext,
  ref: string,
  step: FollowStep,
): Promise<WrongFiles | null> {
  const present = await readRef(context, ref);
  if (present === null || !(await isAncestor(context, step.to, present))) return null;
  const { owners } = await branchHolders(context, ref);
  for (const owner of owners) {
    const wrong = await inspectCheckout(context, owner, step, present);
    if (wrong !== null) return wrong;
  }
  return null;
}

export async function inspectCheckout(
  context: RepositoryContext,
  owner: WorktreeHead,
  { from, to }: FollowStep,
  present: Sha,
): Promise<WrongFiles | null> {
  const at = owner.path;
  if (isInUse(owner)) return null;
  // Most checkouts match their commit and need no second process.
  const differing = await listPaths(context, ['diff-index', '--ignore-submodules', present], at);
  if (differing === null || differing.size === 0) return null;
  const changed = await listPaths(context, ['diff-tree', '-r', from, to]);
  const staged = await listPaths(context, ['diff-index', '--cached', from], at);
  if (changed === null || staged === null) return null;
  const found = (kind: WrongFiles['kind'], paths: readonly PathBytes[]): WrongFiles => {
    const files = paths.slice(0, wrongFilesMax).map(shown);
    return { kind, checkout: at, from, to, files, count: paths.length };
  };
  // Some may be the user's own changes; if all of them differ in this way, a command caused it.
  const isOld = [...changed].every((path) => differing.has(path) && !staged.has(path));
  if (isOld && changed.size > 0) return found('old', [...changed]);
  const missing = await missingIn(context, at, changed);
  return missing.length === 0 ? null : found('missing', missing);
}

function isInUse({ gitDir, operation }: WorktreeHead): boolean {
  return operation !== null || exists(join(gitDir, 'index.lock'));
}

async function missingIn(
  context: RepositoryContext,
  at: string,
  changed: ReadonlySet<PathBytes>,
): Promise<readonly PathBytes[]> {
  const gone = await listPaths(context, ['diff-files', '--diff-filter=D'], at);
  return [...(gone ?? [])].filter((path) => changed.has(path));
}

/** Fixes a state at the user's request. Git refuses to overwrite a file that has changed since. */
export async function cureFiles(
  context: RepositoryContext,
  { checkout: at, kind, from, to }: WrongFiles,
): Promise<GitResult<void>> {
  if (kind === 'old') {
    await takeOnWritten(context, at, { from, to });
    const moved = await context.git(['read-tree', '-m', '-u', from, to], { at });
    return moved.code === 0 ? ok(undefined) : failed(moved, at);
  }
  const changed = await listPaths(context, ['diff-tree', '-r', from, to]);
  const input = zeroEnded(await missingIn(context, at, changed ?? new Set()));
  const written = await context.git(['checkout-index', '-q', '-u', '-z', '--stdin'], { at, input });
  return written.code === 0 ? ok(undefined) : failed(written, at);
}

function failed(output: Parameters<typeof failureOf>[0], at: string): GitResult<never> {
  return { ok: false, error: failureOf(output, `update the files in ${at}`) };
}
