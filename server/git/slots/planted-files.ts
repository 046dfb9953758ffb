// Removes ignored files that a slot's former user wrote. The next user must not run a program that
// was put into `node_modules/.bin`, or read another task's results. Files that the setup created
// stay.

import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import {
  absoluteBytes,
  parentFolder,
  foldersAbove,
  type PathBytes,
  shown,
} from '../../files/path-bytes.ts';
import { readTrace } from '../keep/setup-traces.ts';
import { exists, lstatOrNull } from '../../files/small-files.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { GitResult } from '../port.ts';
import { isInCache, wasMovedFolder } from '../keep/ignored-files.ts';
import type { ParsedStatus } from '../ask/status-format.ts';
import { readRef } from '../refs/refs.ts';
import { readWorktreeHead } from '../refs/worktree-heads.ts';
import { keepState } from '../keep/snapshot.ts';
import { readNote } from '../keep/setup-note.ts';
import { ignoredByAttempt, workStartMs } from '../keep/work-start.ts';

/**
 * Removes them after keeping those that no tool would create again. `ignored`: as listed by git.
 */
export async function dropPlanted(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  label: string,
  ignored: readonly PathBytes[],
): Promise<GitResult<void>> {
  const sinceMs = workStartMs(worktree);
  if (sinceMs === null || ignored.length === 0) return ok(undefined);
  const planted = await plantedIn(worktree, ignored, sinceMs);
  if (planted.files.length === 0 && planted.repositories.length === 0) return ok(undefined);
  const results = planted.files.filter((path) => !isInCache(path));
  const kept = await keepWritten(context, worktree, label, results);
  if (!kept.ok) return kept;
  const unkept = results.filter((path) => !kept.value(path));
  await moveAside(worktree, [...planted.repositories, ...unkept]);
  await removeAll(context, worktree, planted);
  return ok(undefined);
}

interface Planted {
  readonly files: readonly PathBytes[];
  /** Repositories outside of caches, whose history no snapshot keeps. */
  readonly repositories: readonly PathBytes[];
  /** Folders that contain a file which stays. */
  readonly stays: ReadonlySet<PathBytes>;
}

/** Entries to check before yielding to other work. */
const looksAtOnce = 500;

/** Walks everything that is ignored once, without following links. */
async function plantedIn(
  worktree: LinkedWorktree,
  ignored: readonly PathBytes[],
  sinceMs: number,
): Promise<Planted> {
  const root = worktree.path;
  const files: PathBytes[] = [];
  const repositories: PathBytes[] = [];
  const stays = new Set<PathBytes>();
  const movedIn = new Set<PathBytes>();
  const made = readNote(worktree)?.made ?? new Map<PathBytes, string>();
  const stay = (path: PathBytes): void => {
    for (const folder of foldersAbove(path)) {
      if (stays.has(folder)) return;
      stays.add(folder);
    }
  };
  const waiting = ignored.map((path) => path.replace(/\/$/u, ''));
  // No folder above them is ignored.
  for (const path of waiting) stay(path);
  let looks = 0;
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const facts = lstatOrNull(absoluteBytes(root, path));
    looks += 1;
    if (looks % looksAtOnce === 0) await yieldToEventLoop();
    if (facts === null) continue;
    const isMoved = movedIn.has(parentFolder(path));
    if (facts.isDirectory()) {
      const isMovedFolder = isMoved || wasMovedFolder(facts, sinceMs);
      if (isMovedFolder) movedIn.add(path);
      const repository = absoluteBytes(root, `${path}/.git`);
      if (!isInCache(path) && exists(repository)) {
        if (isMovedFolder || (lstatOrNull(repository)?.ctimeMs ?? 0) > sinceMs)
          repositories.push(path);
        else stay(`${path}/.git`);
        continue;
      }
      const names = await readdir(absoluteBytes(root, path), 'latin1').catch((): string[] => []);
      for (const name of names) waiting.push(`${path}/${name}`);
      continue;
    }
    // The setup of an interrupted attempt ran again, or the file got another hard link in another
    // slot, which changes its ctime.
    const isOld =
      (facts.ctimeMs <= sinceMs && !isMoved) ||
      (made.has(path) && made.get(path) === readTrace(root, path));
    if (isOld) stay(path);
    else files.push(path);
  }
  return { files, repositories, stays };
}

/** Returns whether a file is kept, or is one of too many to be kept. */
async function keepWritten(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  label: string,
  results: readonly PathBytes[],
): Promise<GitResult<(path: PathBytes) => boolean>> {
  if (results.length === 0) return ok(() => false);
  const { branch, detachedAt } = await readWorktreeHead(context, worktree);
  const head = branch === null ? detachedAt : await readRef(context, branch);
  const entries = results.map((path) => ({
    kind: 'ignored' as const,
    path,
    index: '.',
    worktree: '.',
    submodule: false,
  }));
  const status: ParsedStatus = { head, branch: null, entries, unreadable: [] };
  const written = await ignoredByAttempt(context, worktree, status, head);
  if (!written.ok) return written;
  const { paths, beyond } = written.value;
  if (beyond !== null) return ok(() => true);
  if (paths.length === 0) return ok(() => false);
  const kept = await keepState(context, {
    worktree,
    status: { ...status, entries: [] },
    label: `${label}/ignored`,
    reason: 'ignored',
    author: 'agent',
    ignored: paths,
  });
  if (!kept.ok) return kept;
  const all = new Set(paths);
  return ok((path) => all.has(path));
}

/**
 * Moves secrets and repositories beside the slot, because secrets must not become git objects and
 * repositories cannot.
 */
async function moveAside(worktree: LinkedWorktree, paths: readonly PathBytes[]): Promise<void> {
  if (paths.length === 0) return;
  const aside = await mkdtemp(`${worktree.path}.kept-`);
  for (const path of paths) {
    const folder = parentFolder(path);
    if (folder !== '') await mkdir(absoluteBytes(aside, folder), { recursive: true });
    await rename(absoluteBytes(worktree.path, path), absoluteBytes(aside, path));
  }
}

/** Removes a folder in which nothing stays as a whole, by one rename. */
async function removeAll(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  { files, repositories, stays }: Planted,
): Promise<void> {
  const gone = new Set<PathBytes>();
  for (const path of [...files, ...repositories]) {
    const top = [...foldersAbove(path)].findLast((folder) => !stays.has(folder));
    if (top === undefined) {
      await rm(absoluteBytes(worktree.path, path), { recursive: true, force: true });
      continue;
    }
    if (gone.has(top)) continue;
    gone.add(top);
    const isTaken = await context.trash
      .take(join(worktree.path, shown(top)), worktree.path)
      .catch(() => false);
    if (!isTaken) await rm(absoluteBytes(worktree.path, top), { recursive: true, force: true });
  }
}
