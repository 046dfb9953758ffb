// Snapshots of a user's checkout before Drover moves it: whatever a command of the user or of
// Drover does to it at the same time, its former content is under `refs/drover/before/`.

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

/** No fast-forward touches an untracked file, so large collections of them are left out. */
const untrackedBytesMax = 32 * 1024 * 1024;
const untrackedMax = 2_000;

/** Does nothing if the checkout holds nothing but its commit. */
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
