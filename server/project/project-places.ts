// The project's paths on disk: the database, the backend's address, its lock and its socket.

import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { processStartTime } from '../agents/kit/process/process-list.ts';
import { checkoutBeside, findCommonDir } from '../git/refs/common-dir.ts';
import { isOpenToOthers, openToOthers } from '../files/open-to-others.ts';
import { readText } from '../files/small-files.ts';
import type { BackendAddress } from '../protocol/api.ts';

export const projectFolderName = '.drover';

/**
 * The closest folder upwards that contains `.drover/`, or whose git folder still has its plan; null
 * if none does.
 */
export function findProject(from: string, user = process.getuid?.()): string | null {
  let folder = resolve(from);
  for (;;) {
    if (isOwnFolder(join(folder, projectFolderName), user)) return folder;
    const kept = projectOfRepository(folder, user);
    if (kept !== null) return kept;
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
}

/** The id of this clone in a fleet. Returns null if it was never in one. */
export function readMachineId(folder: string): string | null {
  const text = readText(join(folder, 'machine'))?.trim() ?? '';
  return /^[0-9a-f]{12}$/.test(text) ? text : null;
}

/**
 * Another user's folder, in a parent that everyone may write to, does not count, because its
 * settings would run as this user.
 */
function isOwnFolder(path: string, user: number | undefined): boolean {
  try {
    // Also checks the link itself, which may point to a folder of this user.
    const owners = [statSync(path).uid, lstatSync(path).uid];
    return user === undefined || owners.every((uid) => uid === user);
  } catch {
    return false;
  }
}

/** The project of the repository that `folder` is a checkout of, if its `.drover/` was deleted. */
function projectOfRepository(folder: string, user: number | undefined): string | null {
  const commonDir = findCommonDir(folder);
  if (commonDir === null) return null;
  const home = gitHome(commonDir);
  if (
    !isHome(home) ||
    ![join(folder, '.git'), home.folder].every((path) => isOwnFolder(path, user))
  )
    return null;
  return projectRoot(commonDir) ?? checkoutBeside(commonDir) ?? folder;
}

/** Drover's files in the git folder that all worktrees share, which `git clean` does not touch. */
export interface GitHome {
  readonly commonDir: string;
  readonly folder: string;
  /** Identifies the owner of the project. */
  readonly identity: string;
  /** A second name (hard link) of the database. */
  readonly database: string;
  /**
   * An empty bare repository. It makes `.drover/` a nested repository, which `git clean -fdx`
   * skips.
   */
  readonly fence: string;
  /**
   * Held by the backend in addition to its own lock, so that a repository has one engine, whatever
   * path is used.
   */
  readonly lock: string;
}

export function gitHome(commonDir: string): GitHome {
  const folder = join(commonDir, 'drover');
  return {
    commonDir,
    folder,
    identity: join(folder, 'project.json'),
    database: join(folder, 'drover.db'),
    fence: join(folder, 'fence'),
    lock: join(folder, 'backend.lock'),
  };
}

/** The content of `project.json` in the git folder. */
export interface ProjectIdentity {
  readonly id: string;
  /** The path of the git folder when this was written. A copy contains that of the original. */
  readonly common_dir: string;
  /** The checkout that contains `.drover/`. */
  readonly root: string;
}

export function readIdentity(home: GitHome): ProjectIdentity | null {
  try {
    const parsed = JSON.parse(readText(home.identity) ?? '') as Partial<ProjectIdentity>;
    const { id, common_dir, root } = parsed;
    if (typeof id !== 'string' || typeof common_dir !== 'string' || typeof root !== 'string')
      return null;
    return { id, common_dir, root };
  } catch {
    return null;
  }
}

/**
 * The checkout with a repository's project, if it still exists. A bare repository with worktrees
 * has no main checkout, so each worktree would otherwise consider itself the project's folder.
 */
export function projectRoot(commonDir: string): string | null {
  const root = readIdentity(gitHome(commonDir))?.root ?? null;
  if (root === null || findCommonDir(root) !== commonDir) return null;
  return existsSync(join(root, projectFolderName)) ? root : null;
}

/** Whether a project was created in this repository. */
export function isHome(home: GitHome): boolean {
  return existsSync(join(home.fence, 'HEAD'));
}

export interface ProjectPlaces {
  readonly root: string;
  readonly folder: string;
  /** Null if `root` is not the top of a checkout. */
  readonly home: GitHome | null;
  /** The database in `folder`, whether or not it is in use. */
  readonly ownDatabase: string;
  readonly database: string;
  readonly address: string;
  readonly lock: string;
  readonly logs: string;
  /** Folder of the images in descriptions. */
  readonly attachments: string;
  readonly backendLog: string;
}

export function projectPlaces(root: string, databasePath: string | null): ProjectPlaces {
  const folder = join(root, projectFolderName);
  const commonDir = findCommonDir(root);
  const ownDatabase = join(folder, 'drover.db');
  return {
    root,
    folder,
    home: commonDir === null ? null : gitHome(commonDir),
    ownDatabase,
    database: databasePath ?? ownDatabase,
    address: join(folder, 'backend.json'),
    lock: join(folder, 'backend.lock'),
    logs: join(folder, 'logs'),
    attachments: join(folder, 'attachments'),
    backendLog: join(folder, 'backend.log'),
  };
}

/**
 * As git names it, without symbolic links, because a slot's stored path is compared with git's
 * list.
 */
export function worktreesFolder(root: string, configured: string | null): string {
  return realPathOf(configured ?? join(dirname(root), `${basename(root)}.worktrees`));
}

/** Why worktrees cannot be created there. Returns null if they can. */
export function whyNoWorktrees(root: string, configured: string | null): string | null {
  const folder = worktreesFolder(root, configured);
  return existsSync(folder) && isOpenToOthers(folder) ? openToOthers(folder) : null;
}

/** Resolves symbolic links in the existing part of the path and appends the rest. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}

/** The address of the backend that is running for this folder, or null. */
export function runningAddress(root: string): BackendAddress | null {
  const address = readAddress(projectPlaces(root, null).address);
  return address !== null && isAlive(address) && isFor(address, root) ? address : null;
}

/** A folder that was moved or copied contains the address of the backend of its former location. */
function isFor(address: BackendAddress, root: string): boolean {
  return address.root === undefined || isSameFolder(address.root, root);
}

/** Compares folders, whatever paths are used for them. */
export function isSameFolder(one: string, other: string): boolean {
  if (one === other) return true;
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}

export function isAlive(address: BackendAddress): boolean {
  return processStartTime(address.pid) === address.start_time;
}

export function readAddress(path: string): BackendAddress | null {
  try {
    const parsed = JSON.parse(readFileSync(path, 'utf8')) as Partial<BackendAddress>;
    if (typeof parsed.pid !== 'number' || typeof parsed.socket !== 'string') return null;
    if (typeof parsed.token !== 'string' || typeof parsed.start_time !== 'string') return null;
    return {
      pid: parsed.pid,
      start_time: parsed.start_time,
      socket: parsed.socket,
      token: parsed.token,
      version: String(parsed.version ?? ''),
      protocol: Number(parsed.protocol ?? 0),
      ...(typeof parsed.root === 'string' && { root: parsed.root }),
    };
  } catch {
    return null;
  }
}
