// The link between a worktree and its private folder below `.git/worktrees`, which is found,
// checked and repaired without git.

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
 * `linked`: as created by git. `unlinked`: the folder exists, but its `.git` file is missing or
 * points elsewhere. `missing`: git knows it, but the folder does not exist. `orphaned`: the folder
 * exists and names our repository, but git has forgotten it. `foreign`: something else exists at
 * the path, for example a link or another repository's worktree. `absent`: nothing exists there.
 */
export type FoundWorktree =
  | { readonly kind: 'linked' | 'unlinked' | 'missing'; readonly worktree: LinkedWorktree }
  | { readonly kind: 'orphaned'; readonly worktree: LinkedWorktree }
  | { readonly kind: 'foreign' | 'absent' };

/** The path with its folder's symbolic links resolved, as git stores it. */
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
  // A link is never one of our worktrees, wherever it points.
  if (folder !== null && !folder.isDirectory()) return { kind: 'foreign' };
  const pointer = readPointer(join(path, '.git'));
  if (pointer !== null && isOfAnother(context, pointer, path)) return { kind: 'foreign' };
  const adminRoot = join(context.commonDir, 'worktrees');
  const pointsToUs = pointer !== null && dirname(pointer) === adminRoot;
  // A private folder counts only if it names this worktree; otherwise an agent could work on
  // another one's HEAD and index.
  const known = findMetadata(context, path);
  if (pointsToUs && pointer === known && exists(join(pointer, 'HEAD'))) {
    return { kind: 'linked', worktree: { path, gitDir: pointer } };
  }
  if (known !== null) {
    const worktree = { path, gitDir: known };
    if (folder === null) return { kind: 'missing', worktree };
    // Without a pointer, only the noted identity of the folder proves that it is the slot and not a
    // replacement.
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
 * Whether another repository also has this folder in its records, because ours is or was a copy of
 * it.
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
 * Whether the private folder is missing or has no worktree: it was moved here, or its entry is
 * damaged.
 */
function isNobodysElse(gitDir: string): boolean {
  const content = readText(join(gitDir, 'gitdir'))?.trim() ?? '';
  return content === '' || !exists(isAbsolute(content) ? content : resolve(gitDir, content));
}

/** The private folder whose `gitdir` points to this worktree. */
function findMetadata(context: RepositoryContext, path: string): string | null {
  return linkedWorktree(context, path)?.gitDir ?? null;
}

/** Cache of the last entry for each path, which avoids reading all of them. */
const lastFound = new Map<string, string>();
const lastFoundMax = 1_000;

/** The worktree with this canonical path; null if git knows none. */
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

/** All linked worktrees that git knows, whether or not their folders exist. */
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

/** The target of a `.git` file; null if it is not one. */
function readPointer(file: string): string | null {
  // Reading a pipe would never end, and a link could point to anything.
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
 * Recreates the private folder for a worktree that git has forgotten, with a detached HEAD if it
 * has none.
 */
export async function writeMetadata(worktree: LinkedWorktree, head: string): Promise<void> {
  await mkdir(worktree.gitDir, { recursive: true });
  await writeFile(join(worktree.gitDir, 'commondir'), '../..\n');
  await writeFile(join(worktree.gitDir, 'gitdir'), `${join(worktree.path, '.git')}\n`);
  // An existing one still contains the worktree's former path.
  if (!exists(join(worktree.gitDir, 'HEAD'))) {
    await writeFile(join(worktree.gitDir, 'HEAD'), `${head}\n`);
  }
}

/** Stays the same until the worktree's index is written. */
export function stampOfIndex(worktree: LinkedWorktree): string {
  const facts = lstatOrNull(join(worktree.gitDir, 'index'));
  return facts === null ? '' : [facts.ino, facts.size, facts.mtimeMs].join(' ');
}
