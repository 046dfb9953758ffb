// When an attempt could start its work in a slot, after the setup: newer ignored files are its
// own.

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
  // An attempt that was interrupted continues: its earlier files are its own as well.
  if (hasStarted(found.value)) return ok(undefined);
  await writeNew(join(found.value.gitDir, slotNotes.start), '');
  return ok(undefined);
}

export function hasStarted(worktree: LinkedWorktree): boolean {
  return workStartMs(worktree) !== null;
}

/** The file system's own time of the note, because the times of the files are compared with it. */
export function workStartMs({ gitDir }: LinkedWorktree): number | null {
  return lstatOrNull(join(gitDir, slotNotes.start))?.ctimeMs ?? null;
}

/**
 * Ignored files that the slot's attempt wrote; the status must list ignored files. Those that
 * contain a secret are left out: they must not get into git's objects.
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
