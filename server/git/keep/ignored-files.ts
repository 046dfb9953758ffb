// Decides which ignored files of a worktree may be work: small files that no tool would create
// again, and files that an attempt wrote.

import type { Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { PathBytes } from '../../files/path-bytes.ts';
import { absoluteBytes, parentFolder, shown } from '../../files/path-bytes.ts';
import { exists, lstatOrNull } from '../../files/small-files.ts';
import type { ParsedStatus } from '../ask/status-format.ts';

export type IgnoredWork =
  | { readonly kind: 'files'; readonly paths: readonly PathBytes[] }
  | { readonly kind: 'too_much'; readonly reason: string };

export interface IgnoredLimits {
  readonly files: number;
  readonly bytes: number;
}

const defaultLimits: IgnoredLimits = { files: 20_000, bytes: 64 * 1024 * 1024 };

/** Build folders: a build can fill them again, but a task's result may be in them too. */
const outputFolders = ['dist', 'build', 'out'];

/** Folders that package managers, compilers and test runners fill and can fill again. */
const cacheFolders: ReadonlySet<string> = new Set([
  'node_modules',
  'bower_components',
  'jspm_packages',
  '.pnpm-store',
  '.yarn',
  '.npm',
  '.venv',
  'venv',
  '__pycache__',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.tox',
  '.nox',
  '.eggs',
  '.gradle',
  '.m2',
  '.cargo',
  '.bundle',
  '.next',
  '.nuxt',
  '.svelte-kit',
  '.turbo',
  '.parcel-cache',
  '.vite',
  '.cache',
  '.nyc_output',
  '.dart_tool',
  '.terraform',
  '.tsbuild',
  'DerivedData',
  'Pods',
  'coverage',
  'target',
  'obj',
]);

const reproducibleFolders: ReadonlySet<string> = new Set([...cacheFolders, ...outputFolders]);

const reproducibleEndings = ['.pyc', '.pyo', '.o', '.obj', '.class', '.tsbuildinfo', '.DS_Store'];

export function isReproducible(path: string): boolean {
  return isMadeAgain(path, reproducibleFolders);
}

/** Whether the path is in such a cache, which never contains results. */
export function isInCache(path: string): boolean {
  return isMadeAgain(path, cacheFolders);
}

function isMadeAgain(path: string, folders: ReadonlySet<string>): boolean {
  const parts = path.split('/').filter((part) => part !== '');
  const name = parts.at(-1) ?? '';
  return (
    parts.some((part) => folders.has(part) || part.endsWith('.egg-info')) ||
    reproducibleEndings.some((ending) => name.endsWith(ending))
  );
}

/** Returns null for a folder that exists but cannot be read, because it may contain anything. */
function noneIfGone(error: NodeJS.ErrnoException): readonly string[] | null {
  return error.code === 'EACCES' || error.code === 'EPERM' ? null : [];
}

/** Git lists an ignored folder as one entry, so it is walked here, up to a limit. */
export async function ignoredWork(
  root: string,
  status: ParsedStatus,
  limits: IgnoredLimits = defaultLimits,
): Promise<IgnoredWork> {
  const paths: PathBytes[] = [];
  let bytes = 0;
  const waiting = status.entries
    .filter((entry) => entry.kind === 'ignored')
    .map((entry) => entry.path);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (isReproducible(path)) continue;
    const facts = lstatOrNull(absoluteBytes(root, path));
    if (facts?.isDirectory()) {
      const folder = path.endsWith('/') ? path : `${path}/`;
      const names = await readdir(absoluteBytes(root, folder), 'latin1').catch(noneIfGone);
      if (names === null)
        return { kind: 'too_much', reason: `${shown(path)} cannot be read (permission denied)` };
      // Files of a nested repository below an ignored folder are not listed.
      if (names.includes('.git'))
        return { kind: 'too_much', reason: `${join(path)} is a repository` };
      waiting.push(...names.map((name) => `${folder}${name}`));
    } else if (facts?.isFile() || facts?.isSymbolicLink()) {
      paths.push(path);
      bytes += facts.size;
    }
    if (paths.length > limits.files || waiting.length > limits.files) {
      return { kind: 'too_much', reason: `more than ${limits.files} files` };
    }
    if (bytes > limits.bytes) {
      return { kind: 'too_much', reason: `more than ${Math.floor(limits.bytes / 1024 / 1024)} MB` };
    }
  }
  return { kind: 'files', paths: paths.reverse() };
}

export interface WrittenIgnored {
  /** If they are too many, the ignored files and folders as listed by git. */
  readonly paths: readonly PathBytes[];
  /** The limit that they exceed. Null if the paths are complete. */
  readonly beyond: string | null;
}

const writtenLimits: IgnoredLimits = { files: 500, bytes: 64 * 1024 * 1024 };
const looksMax = 20_000;
/** Entries to check before yielding to other work. */
const looksAtOnce = 500;

/**
 * Recognizes a moved folder: its entry is new, but its list of files is not, and its files have
 * their former times.
 */
export function wasMovedFolder(folder: Stats, sinceMs: number): boolean {
  return folder.ctimeMs > sinceMs && folder.mtimeMs <= sinceMs;
}

/**
 * Ignored files that were created, changed or moved here after a time. Caches are skipped without
 * being listed.
 */
export async function ignoredSince(
  root: string,
  status: ParsedStatus,
  sinceMs: number,
): Promise<WrittenIgnored> {
  const listed = status.entries
    .filter(({ kind, path }) => kind === 'ignored' && !isInCache(path))
    .map(({ path }) => path);
  const { files, bytes: bytesMax } = writtenLimits;
  const paths: PathBytes[] = [];
  let bytes = 0;
  let looks = 0;
  const movedIn = new Set<PathBytes>();
  const waiting = [...listed];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (isInCache(path)) continue;
    const facts = lstatOrNull(absoluteBytes(root, path));
    looks += 1;
    if (facts?.isDirectory()) {
      const folder = path.endsWith('/') ? path : `${path}/`;
      const isMoved = movedIn.has(parentFolder(path)) || wasMovedFolder(facts, sinceMs);
      if (isMoved) movedIn.add(folder.slice(0, -1));
      const repository = absoluteBytes(root, `${folder}.git`);
      if (exists(repository)) {
        if (!isMoved && (lstatOrNull(repository)?.ctimeMs ?? 0) <= sinceMs) continue;
        return { paths: [folder], beyond: 'a repository in an ignored folder' };
      }
      const names = await readdir(absoluteBytes(root, folder), 'latin1').catch(noneIfGone);
      if (names === null) {
        if (facts.ctimeMs <= sinceMs) continue;
        return { paths: [folder], beyond: 'an ignored folder that cannot be read' };
      }
      waiting.push(...names.map((name) => `${folder}${name}`));
    } else if (
      (facts?.isFile() || facts?.isSymbolicLink()) &&
      (facts.ctimeMs > sinceMs || movedIn.has(parentFolder(path)))
    ) {
      paths.push(path);
      bytes += facts.size;
    }
    if (paths.length > files) return { paths: listed, beyond: `more than ${files} ignored files` };
    if (bytes > bytesMax) {
      const size = Math.floor(bytesMax / 1024 / 1024);
      return { paths: listed, beyond: `ignored files of more than ${size} MB` };
    }
    if (looks > looksMax || waiting.length > looksMax) {
      if (paths.length === 0) return { paths, beyond: null };
      return { paths: listed, beyond: `files in ignored folders of more than ${looksMax} files` };
    }
    if (looks % looksAtOnce === 0) await yieldToEventLoop();
  }
  return { paths: paths.sort(), beyond: null };
}
