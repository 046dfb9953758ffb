// Protects the plan from a user's `git clean` (docs/adr/0019): `.drover/` counts as a nested
// repository, which `git clean -fdx` skips, and the database has a second name in the git folder,
// from which it is restored if `.drover/` was deleted anyway.

import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../core/failure.ts';
import { acquireExclusive } from '../store/sqlite/exclusive.ts';
import { type GitHome, isHome, type ProjectPlaces, projectRoot } from './project-places.ts';

/** How long a backend may take to exit after its files were deleted. */
const leaveWaitMaxMs = 30_000;
const leaveLookMs = 50;

/** Returns false if the git folder is not writable, so that nothing is kept there. */
export function makeHome(home: GitHome): boolean {
  try {
    makePrivate(home.folder);
    return true;
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}

/** It contains the copy of the plan, and other users of the machine can read a git folder. */
function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Earlier versions made it readable for others. Another user's folder stays unchanged.
  const { mode, uid } = statSync(folder);
  if (process.getuid?.() === uid && (mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** Call with the database open and valid. It is kept from then on. */
export function keepPlan(places: ProjectPlaces): void {
  const { home } = places;
  if (home === null) return;
  try {
    makePrivate(home.folder);
    raiseFence(places, home.fence);
    if (places.database === places.ownDatabase) keepDatabase(places.database, home.database);
  } catch (error) {
    // Without hard links, or with a read-only git folder, the plan works but has no second name.
    if (!isFileError(error)) throw error;
  }
}

/**
 * Restores `.drover/` if it is missing and the git folder still has the plan. Waits until a backend
 * that lost these files has exited, because two write-ahead logs of one database would damage it.
 */
export async function restorePlan(places: ProjectPlaces): Promise<void> {
  const { home } = places;
  if (home === null || isComplete(places) || !isHome(home)) return;
  const holder = projectRoot(home.commonDir);
  // A second name in another checkout would have a second write-ahead log.
  if (holder !== null && holder !== places.root) {
    throw new Refusal(
      'wrong_project',
      `The project of this repository is in ${holder}. Work there: drover -C ${holder}.`,
    );
  }
  const lock = await waitForLock(home.lock, places.root);
  try {
    if (isComplete(places)) return;
    mkdirSync(places.folder, { recursive: true, mode: 0o700 });
    raiseFence(places, home.fence);
    if (existsSync(home.database)) linkSync(home.database, places.ownDatabase);
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new Refusal(
      'unwritable',
      `The plan in ${home.database} cannot be restored to ${places.folder} (${error.code}). Make ${places.root} writable, then try again.`,
    );
  } finally {
    lock.release();
  }
}

function isComplete(places: ProjectPlaces): boolean {
  const { folder, home, ownDatabase } = places;
  if (!existsSync(folder)) return false;
  return existsSync(ownDatabase) || home === null || !existsSync(home.database);
}

async function waitForLock(
  path: string,
  root: string,
): Promise<NonNullable<ReturnType<typeof acquireExclusive>>> {
  const endMs = Date.now() + leaveWaitMaxMs;
  for (;;) {
    const lock = acquireExclusive(path);
    if (lock !== null) return lock;
    if (Date.now() >= endMs) {
      throw new Refusal(
        'backend',
        `The .drover folder of ${root} was deleted, and its backend is still running. Stop that process, then try again.`,
      );
    }
    await wait(leaveLookMs);
  }
}

/**
 * `git clean` leaves nested repositories alone. This one is bare, so that no program considers
 * `.drover/` a checkout with missing files.
 */
function raiseFence(places: ProjectPlaces, fence: string): void {
  const marker = join(places.folder, '.git');
  if (existsSync(marker) && existsSync(join(fence, 'HEAD'))) return;
  for (const name of ['objects', 'refs']) mkdirSync(join(fence, name), { recursive: true });
  writeFileSync(join(fence, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n');
  writeFileSync(join(fence, 'HEAD'), 'ref: refs/heads/none\n');
  if (existsSync(marker)) return;
  const target = relative(realpathSync(places.folder), realpathSync(fence)).replaceAll('\\', '/');
  writeFileSync(marker, `gitdir: ${target}\n`);
}

function keepDatabase(database: string, kept: string): void {
  if (isSameFile(database, kept)) return;
  const fresh = `${kept}.${process.pid}`;
  rmSync(fresh, { force: true });
  linkSync(database, fresh);
  renameSync(fresh, kept);
}

function isSameFile(one: string, other: string): boolean {
  const first = lstatSync(one, { throwIfNoEntry: false });
  const second = lstatSync(other, { throwIfNoEntry: false });
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}

function isFileError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string';
}
