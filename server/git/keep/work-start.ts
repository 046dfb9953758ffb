// Records when an attempt could start its work in a slot, after the setup. Ignored files that are
// newer belong to it.

import { join } from 'node:path';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { slotNotes } from '../refs/slot-notes.ts';
import { shown } from '../../files/path-bytes.ts';
import { lstatOrNull, writeNew } from '../../files/small-files.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { GitResult } from '../port.ts';
import { ignoredSince, type WrittenIgnored } from './ignored-files.ts';
import type { ParsedStatus } from '../ask/status-format.ts';
import type { Sha } from '../sha.ts';
import { secretsInFiles } from './held-contents.ts';
import { secretNames } from './held-names.ts';
import { ownWorktree } from './own-worktree.ts';

export async function startWork(
  context: RepositoryContext,
  path: string,
): Promise<GitResult<void>> {
  const found = await ownWorktree(context, path);
  if (!found.ok) return found;
  // An interrupted attempt continues, so its earlier files belong to it too.
  if (hasStarted(found.value)) return ok(undefined);
  await writeNew(join(found.value.gitDir, slotNotes.start), '');
  return ok(undefined);
}

export function hasStarted(worktree: LinkedWorktree): boolean {
  return workStartMs(worktree) !== null;
}

/** The note's time by the file system, with which the times of files are compared. */
export function workStartMs({ gitDir }: LinkedWorktree): number | null {
  return lstatOrNull(join(gitDir, slotNotes.start))?.ctimeMs ?? null;
}

/**
 * Ignored files that the slot's attempt wrote. The status must list ignored files. Omits files with
 * a secret, which must not become git objects.
 */
export async function ignoredByAttempt(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  status: ParsedStatus,
  base: Sha | null,
): Promise<GitResult<WrittenIgnored>> {
  const sinceMs = workStartMs(worktree);
  if (sinceMs === null) return ok({ paths: [], beyond: null });
  const written = await ignoredSince(worktree.path, status, sinceMs);
  const present = written.paths.filter((path) => !context.isHeldName(shown(path)));
  if (present.length === 0) return ok({ paths: [], beyond: null });
  const names = await secretNames(context, base, present);
  if (!names.ok) return names;
  const secrets = await secretsInFiles(context, worktree.path, base, { present, removed: [] });
  if (!secrets.ok) return secrets;
  const paths = present.filter((path) => !names.value.has(path) && !secrets.value.has(path));
  return ok({ ...written, paths });
}
