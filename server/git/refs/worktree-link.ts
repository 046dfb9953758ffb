// The link between a worktree and its private folder below `.git/worktrees`: found, checked and
// repaired without git.

import { realpathSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { exists, lstatOrNull, listNames, readText } from '../../files/small-files.ts';
import { slotNotes } from './slot-notes.ts';

export interface LinkedWorktree {
  readonly path: string;
  /** HEAD, index and unfinished operations of this worktree. */
  readonly gitDir: string;
}

/**
 * `linked`: as git made it. `unlinked`: the folder exists, but its `.git` file is missing or points
 * elsewhere. `missing`: git knows it, but the folder does not exist. `orphaned`: the folder exists
 * and names our repository, but git has forgotten it. `foreign`: something else exists there, for
 * example a link, or a worktree of another repository. `absent`: nothing exists there.
 */
export type FoundWorktree =
  | { readonly kind: 'linked' | 'unlinked' | 'missing'; readonly worktree: LinkedWorktree }
  | { readonly kind: 'orphaned'; readonly worktree: LinkedWorktree }
  | { readonly kind: 'foreign' | 'absent' };

/** The path with its folder's symbolic links resolved: git stores it so. */
export function canonicalPath(path: string): string {
  const absolute = resolve(path);
  const parent = dirname(absolute);
  return join(realFolder(parent), basename(absolute));
}

function realFolder(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

export function findWorktree(context: RepositoryContext, path: string): FoundWorktree {
  const folder = lstatOrNull(path);
  // The target of a link is not ours, wherever that is.
  if (folder !== null && !folder.isDirectory()) return { kind: 'foreign' };
  const pointer = readPointer(join(path, '.git'));
  if (pointer !== null && isOfAnother(context, pointer, path)) return { kind: 'foreign' };
  const adminRoot = join(context.commonDir, 'worktrees');
  const pointsToUs = pointer !== null && dirname(pointer) === adminRoot;
  // A folder of the books counts only if it names this very worktree: else one agent would work on
  // another's HEAD and index.
  const known = findMetadata(context, path);
  if (pointsToUs && pointer === known && exists(join(pointer, 'HEAD'))) {
    return { kind: 'linked', worktree: { path, gitDir: pointer } };
  }
  if (known !== null) {
    const worktree = { path, gitDir: known };
    if (folder === null) return { kind: 'missing', worktree };
    // If there is no pointer, only the folder itself can prove that it is the slot, and not another
    // one in its place.
    const noted = readText(join(known, slotNotes.folder));
    if (pointer === null && noted !== null && noted !== resolveFolder(path))
      return { kind: 'foreign' };
    return { kind: 'unlinked', worktree };
  }
  if (pointsToUs && isNobodysElse(pointer))
    return { kind: 'orphaned', worktree: { path, gitDir: pointer } };
  if (folder === null) return { kind: 'absent' };
  if (folder.isDirectory() && listNames(path).length === 0) return { kind: 'absent' };
  return { kind: 'foreign' };
}

export function resolveFolder(path: string): string | null {
  const facts = lstatOrNull(path);
  return facts === null ? null : `${facts.dev}:${facts.ino}`;
}

/**
 * Another repository has this folder in its books, as ours has: ours is a copy of it, or was once.
 */
function isOfAnother(context: RepositoryContext, pointer: string, path: string): boolean {
  if (dirname(pointer) === join(context.commonDir, 'worktrees')) return false;
  if (!exists(join(pointer, 'HEAD'))) return false;
  const content = readText(join(pointer, 'gitdir'))?.trim() ?? '';
  return content !== '' && isSameFolder(dirname(resolve(pointer, content)), path);
}

function isSameFolder(one: string, other: string): boolean {
  return one === other || canonicalPath(one) === canonicalPath(other);
}

/**
 * A private folder that does not exist, or whose worktree does not: it was moved here, or its entry
 * is damaged.
 */
function isNobodysElse(gitDir: string): boolean {
  const content = readText(join(gitDir, 'gitdir'))?.trim() ?? '';
  return content === '' || !exists(isAbsolute(content) ? content : resolve(gitDir, content));
}

/** The private folder whose `gitdir` leads to this worktree. */
function findMetadata(context: RepositoryContext, path: string): string | null {
  return linkedWorktree(context, path)?.gitDir ?? null;
}

/** The last place of each entry. Checking that entry first avoids reading all of them. */
const lastFound = new Map<string, string>();
const lastFoundMax = 1_000;

/** The worktree with this canonical path, or null when git knows none there. */
export function linkedWorktree(
  context: Pick<RepositoryContext, 'commonDir'>,
  path: string,
): LinkedWorktree | null {
  const key = `${context.commonDir}\0${path}`;
  const gitDir = lastFound.get(key);
  if (gitDir !== undefined && worktreeOf(gitDir) === path) return { path, gitDir };
  lastFound.delete(key);
  const found = linkedWorktrees(context).find((entry) => entry.path === path) ?? null;
  if (found === null) return null;
  if (lastFound.size >= lastFoundMax) lastFound.clear();
  lastFound.set(key, found.gitDir);
  return found;
}

/** The main checkout first, then all linked worktrees. */
export function listWorktrees(
  context: Pick<RepositoryContext, 'commonDir' | 'root' | 'isBare'>,
): LinkedWorktree[] {
  const main = { path: context.root, gitDir: context.commonDir };
  return [...(context.isBare ? [] : [main]), ...linkedWorktrees(context)];
}

/** All linked worktrees that git knows, whether their folders are there or not. */
export function linkedWorktrees(context: Pick<RepositoryContext, 'commonDir'>): LinkedWorktree[] {
  const adminRoot = join(context.commonDir, 'worktrees');
  const names = listNames(adminRoot);
  const found: LinkedWorktree[] = [];
  for (const name of names) {
    const gitDir = join(adminRoot, name);
    const path = worktreeOf(gitDir);
    if (path !== null) found.push({ path, gitDir });
  }
  return found;
}

function worktreeOf(gitDir: string): string | null {
  const target = readText(join(gitDir, 'gitdir'))?.trim();
  if (target === undefined) return null;
  return dirname(isAbsolute(target) ? resolve(target) : resolve(gitDir, target));
}

/** The target of a `.git` file, or null if it is none. */
function readPointer(file: string): string | null {
  // A pipe would never end, a link could lead to anything.
  if (lstatOrNull(file)?.isFile() !== true) return null;
  const content = readText(file);
  if (content === null || !content.startsWith('gitdir: ')) return null;
  const target = content.slice('gitdir: '.length).trim();
  return isAbsolute(target) ? resolve(target) : resolve(dirname(file), target);
}

export async function writePointer(worktree: LinkedWorktree): Promise<void> {
  const target = sep === '\\' ? worktree.gitDir.replaceAll('\\', '/') : worktree.gitDir;
  await writeFile(join(worktree.path, '.git'), `gitdir: ${target}\n`);
}

/**
 * Recreates the private folder, with a detached HEAD if it has none, for a worktree that git has
 * forgotten.
 */
export async function writeMetadata(worktree: LinkedWorktree, head: string): Promise<void> {
  await mkdir(worktree.gitDir, { recursive: true });
  await writeFile(join(worktree.gitDir, 'commondir'), '../..\n');
  await writeFile(join(worktree.gitDir, 'gitdir'), `${join(worktree.path, '.git')}\n`);
  // An existing one still contains the former path of this worktree.
  if (!exists(join(worktree.gitDir, 'HEAD'))) {
    await writeFile(join(worktree.gitDir, 'HEAD'), `${head}\n`);
  }
}

/** The same while nothing has written the index of a worktree. */
export function stampOfIndex(worktree: LinkedWorktree): string {
  const facts = lstatOrNull(join(worktree.gitDir, 'index'));
  return facts === null ? '' : [facts.ino, facts.size, facts.mtimeMs].join(' ');
}
