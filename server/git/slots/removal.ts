// The one deleter of worktrees: nothing goes before it is reachable from a ref, and what can't be
// kept stays.

import { randomUUID } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { cannotRead, failureOf, gitFailure } from '../process/failures.ts';
import { ignoredWork } from '../read/ignored-files.ts';
import { parseStatus, statusArguments } from '../read/status-format.ts';
import { dropIndex } from '../snapshot/snapshot.ts';
import { keepDropped } from '../work/dropped-commits.ts';
import { relink } from '../work/own-worktree.ts';
import type { GitResult, RemoveOutcome, RemoveRequest } from '../port.ts';
import { type Found, keepFound, readableStatus, watchEverything } from './slot-emptying.ts';
import { labelOfSlot } from './slot-marks.ts';
import { dropStaleLocks } from '../files/stale-locks.ts';
import { slotNotes } from '../files/slot-notes.ts';
import { exists, factsOf, namesIn, readText } from '../files/small-files.ts';
import {
  canonicalPath,
  findWorktree,
  folderNow,
  stampOfIndex,
  writeMetadata,
  type LinkedWorktree,
} from '../files/worktree-link.ts';
import { dropMetadata, forgetMissing } from '../work/worktree-metadata.ts';

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
      if (await undoCutRemoval(found.worktree))
        return removeLinked(context, request, found.worktree);
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
      const linked = await relink(context, found.worktree);
      return linked.ok ? removeLinked(context, request, linked.value) : linked;
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
  for (let round = 1; round <= roundsMax; round += 1) {
    const watched = await watchEverything(context, worktree);
    if (!watched.ok) return watched;
    const saved = await saveEverything(context, worktree, label, request.force);
    if (!saved.ok) {
      // Whatever could not be kept elsewhere is kept where it is.
      return saved.error.retryable ? saved : kept(saved.error.message);
    }
    const taken = await takeUnchanged(context, worktree, saved.value);
    if (!taken.ok) return taken;
    if (!taken.value) continue;
    await dropMetadata(context, worktree);
    return ok({ kind: 'removed', keptRef: saved.value.ref });
  }
  return kept(`A program keeps writing in ${worktree.path}.`);
}

const asideMark = '.removed-';

/**
 * A process that died during a removal left the folder aside: it is moved back, and checked again.
 */
export async function undoCutRemoval({ path, gitDir }: LinkedWorktree): Promise<boolean> {
  const noted = readText(join(gitDir, slotNotes.folder));
  if (noted === null) return false;
  const parent = dirname(path);
  for (const name of namesIn(parent)) {
    if (!name.startsWith(`${basename(path)}${asideMark}`)) continue;
    const aside = join(parent, name);
    if (folderNow(aside) !== noted) continue;
    await rename(aside, path);
    return true;
  }
  return false;
}

/** How often files that were written in the meantime are saved too. */
const roundsMax = 4;

/**
 * Moves the folder aside first, and checks it there: false if it was written to since it was saved;
 * it is then back in its place.
 */
async function takeUnchanged(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  { index: held, skipped }: Pick<Found, 'index' | 'skipped'>,
): Promise<GitResult<boolean>> {
  const { path, gitDir } = worktree;
  const aside = `${path}${asideMark}${randomUUID().slice(0, 8)}`;
  try {
    await rename(path, aside);
    const look = await context.git([...statusArguments, '--ignored=no'], {
      env: {
        GIT_DIR: gitDir,
        GIT_COMMON_DIR: context.commonDir,
        GIT_WORK_TREE: aside,
        GIT_INDEX_FILE: held?.file ?? join(gitDir, 'index'),
      },
    });
    const isUnchanged =
      look.code === 0 && parseStatus(look.stdout).entries.every(({ worktree: now }) => now === '.');
    const staged = held !== null && stampOfIndex(worktree) !== held.ownIndex;
    // A person who forces it knows that something is in no commit.
    if ((isUnchanged && !staged) || skipped.length > 0) {
      await context.trash.take(aside, path);
      return ok(true);
    }
    await rename(aside, path);
    return look.code === 0 ? ok(false) : err(failureOf(look, `read the state of ${path}`));
  } finally {
    if (held !== null) await dropIndex(held);
  }
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

/** The ref is null when all of it was in branches already. */
async function saveEverything(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  label: string,
  force: boolean,
): Promise<GitResult<Pick<Found, 'ref' | 'index' | 'skipped'>>> {
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
    holdIndex: true,
  });
  if (!kept.ok) return kept;
  const { ref, index, skipped } = kept.value;
  if (skipped.length > 0 && !force) {
    if (index !== null) await dropIndex(index);
    const names = skipped.slice(0, 5).join(', ');
    return err(
      gitFailure('failed', `${worktree.path} holds what cannot be kept in a commit: ${names}.`),
    );
  }
  return ok({ ref, index, skipped });
}

/** The trash makes our own folders readable; another user's would stay there. */
function isOwn({ path }: LinkedWorktree, name: string): boolean {
  const uid = process.getuid?.();
  return uid === undefined || factsOf(join(path, name))?.uid === uid;
}

async function anyHead(context: RepositoryContext): Promise<string | null> {
  const output = await context.git(['rev-parse', '--verify', '-q', 'HEAD^{commit}']);
  return output.code === 0 ? output.stdout.toString('utf8').trim() : null;
}
