// The only code that deletes worktrees. Nothing is deleted before a ref keeps it, and anything that
// cannot be kept stays.

import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { cannotRead, gitFailure } from '../failures.ts';
import { ignoredWork } from '../keep/ignored-files.ts';
import { keepDropped } from '../keep/dropped-commits.ts';
import { relink } from '../keep/own-worktree.ts';
import type { GitResult, RemoveOutcome, RemoveRequest } from '../port.ts';
import { keepFound, readableStatus, watchEverything } from './slot-emptying.ts';
import { labelOfSlot } from './slot-marks.ts';
import { dropStaleLocks } from '../refs/stale-locks.ts';
import { exists, lstatOrNull, readText } from '../../files/small-files.ts';
import {
  canonicalPath,
  findWorktree,
  writeMetadata,
  type LinkedWorktree,
} from '../refs/worktree-link.ts';
import { forgetMissing, retire } from '../keep/worktree-metadata.ts';

export async function removeWorktree(
  context: RepositoryContext,
  request: RemoveRequest,
): Promise<GitResult<RemoveOutcome>> {
  const path = canonicalPath(request.path);
  if (path === context.root) return kept(`${path} is the checkout of the user.`);
  return context.inTurn(`slot ${path}`, () => removeAt(context, { ...request, path }));
}

function kept(reason: string): GitResult<RemoveOutcome> {
  return ok({ kind: 'kept', reason });
}

async function removeAt(
  context: RepositoryContext,
  request: RemoveRequest,
): Promise<GitResult<RemoveOutcome>> {
  const found = findWorktree(context, request.path);
  switch (found.kind) {
    case 'absent':
      return ok({ kind: 'removed', keptRef: null });
    case 'foreign':
      return kept(`${request.path} is not a worktree of this repository.`);
    case 'missing': {
      const forgotten = await forgetMissing(context, found.worktree);
      return forgotten.ok ? ok({ kind: 'removed', keptRef: forgotten.value }) : forgotten;
    }
    case 'orphaned': {
      const head = await anyHead(context);
      if (head === null) return kept(`Git no longer knows ${request.path}, and it has no commit.`);
      await writeMetadata(found.worktree, head);
      return removeLinked(context, request, found.worktree);
    }
    case 'unlinked': {
      return removeLinked(context, request, await relink(found.worktree));
    }
    case 'linked':
      return removeLinked(context, request, found.worktree);
  }
}

async function removeLinked(
  context: RepositoryContext,
  request: RemoveRequest,
  worktree: LinkedWorktree,
): Promise<GitResult<RemoveOutcome>> {
  const obstacle = await obstacleTo(context, worktree, request.force);
  if (obstacle !== null) return kept(obstacle);
  const label = request.label === '' ? labelOfSlot(worktree) : request.label;
  const watched = await watchEverything(context, worktree);
  if (!watched.ok) return watched;
  const saved = await saveEverything(context, worktree, label, request.force);
  if (!saved.ok) {
    // Work that could not be kept elsewhere stays in its slot.
    return saved.error.retryable ? saved : kept(saved.error.message);
  }
  await retire(context, worktree, 'delete');
  return ok({ kind: 'removed', keptRef: saved.value });
}

async function obstacleTo(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  force: boolean,
): Promise<string | null> {
  const locked = readText(join(worktree.gitDir, 'locked'));
  if (locked !== null) {
    const why = locked.trim() === '' ? '' : ` (${locked.trim()})`;
    return `${worktree.path} is locked${why}: run "git worktree unlock" first.`;
  }
  await dropStaleLocks(worktree, context.staleLockMs);
  const lock = join(worktree.gitDir, 'index.lock');
  if (exists(lock)) return `Git is running in ${worktree.path} (${lock} exists).`;
  if (!force && exists(join(worktree.gitDir, 'modules'))) {
    return `${worktree.path} has submodules checked out, whose commits may be nowhere else.`;
  }
  return null;
}

/** The ref is null if branches already contained everything. */
async function saveEverything(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  label: string,
  force: boolean,
): Promise<GitResult<string | null>> {
  const status = await readableStatus(context, worktree, label, {
    ignored: true,
    fallbackHead: await anyHead(context),
  });
  if (!status.ok) return status;
  const { unreadable } = status.value;
  if (unreadable.length > 0 && !(force && unreadable.every((name) => isOwn(worktree, name))))
    return err(cannotRead(worktree.path, unreadable));
  const dropped = await keepDropped(context, worktree, status.value.head, label);
  if (!dropped.ok) return dropped;
  const ignored = await ignoredWork(worktree.path, status.value);
  if (ignored.kind === 'too_much' && !force) {
    const message = `${worktree.path} holds ignored files that may be work in progress: ${ignored.reason}.`;
    return err(gitFailure('failed', message));
  }
  const kept = await keepFound(context, worktree, status.value, {
    label,
    next: null,
    ignored: ignored.kind === 'files' ? ignored.paths : [],
  });
  if (!kept.ok) return kept;
  const { ref, skipped } = kept.value;
  if (skipped.length > 0 && !force) {
    const names = skipped.slice(0, 5).join(', ');
    return err(
      gitFailure('failed', `${worktree.path} has files that cannot be kept in a commit: ${names}.`),
    );
  }
  return ok(ref);
}

/** The trash can make our own folders readable, but another user's folder would stay in it. */
function isOwn({ path }: LinkedWorktree, name: string): boolean {
  const uid = process.getuid?.();
  return uid === undefined || lstatOrNull(join(path, name))?.uid === uid;
}

async function anyHead(context: RepositoryContext): Promise<string | null> {
  const output = await context.git(['rev-parse', '--verify', '-q', 'HEAD^{commit}']);
  return output.code === 0 ? output.stdout.toString('utf8').trim() : null;
}
