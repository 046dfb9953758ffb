// Makes a snapshot of a user's checkout before Drover moves it, so that its former content is under
// `refs/drover/before/` whatever happens to it at the same time.

import { basename } from 'node:path';
import { beforeRoot } from '../../core/work/ref-names.ts';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { factsOfAll } from '../../files/small-files.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { GitResult } from '../port.ts';
import { readStatus } from '../ask/status.ts';
import type { ParsedStatus } from '../ask/status-format.ts';
import { isDirty, keepState } from './snapshot.ts';

/** A fast-forward never touches untracked files, so large collections of them are omitted. */
const untrackedBytesMax = 32 * 1024 * 1024;
const untrackedMax = 2_000;

/** Does nothing if the checkout matches its commit. */
export async function keepCheckout(
  context: RepositoryContext,
  { path, gitDir }: LinkedWorktree,
): Promise<GitResult<void>> {
  const worktree = { path, gitDir };
  const status = await readStatus(context, path);
  if (!status.ok) return status;
  if (!isDirty(status.value)) return ok(undefined);
  const name = gitDir === context.commonDir ? 'checkout' : `worktrees/${basename(gitDir)}`;
  const kept = await keepState(context, {
    worktree,
    status: await withoutLarge(path, status.value),
    label: `before/${name}`,
    ref: `${beforeRoot}${name}`,
    reason: 'follow',
    author: 'person',
  });
  return kept.ok ? ok(undefined) : kept;
}

async function withoutLarge(root: string, status: ParsedStatus): Promise<ParsedStatus> {
  const untracked = status.entries.filter(({ kind }) => kind === 'untracked');
  const facts = await factsOfAll(
    root,
    untracked.map(({ path }) => path),
  );
  const bytes = facts.reduce((sum, { stats }) => sum + (stats?.size ?? 0), 0);
  if (untracked.length <= untrackedMax && bytes <= untrackedBytesMax) return status;
  return { ...status, entries: status.entries.filter(({ kind }) => kind !== 'untracked') };
}
