// Which ignored files of a worktree may be work: all small files that no tool would create again.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PathBytes } from '../files/paths.ts';
import { absoluteBytes } from '../files/paths.ts';
import { factsOf } from '../files/small-files.ts';
import type { ParsedStatus } from './status-format.ts';

export type IgnoredWork =
  | { readonly kind: 'files'; readonly paths: readonly PathBytes[] }
  | { readonly kind: 'too_much'; readonly reason: string };

export interface IgnoredLimits {
  readonly files: number;
  readonly bytes: number;
}

const defaultLimits: IgnoredLimits = { files: 20_000, bytes: 64 * 1024 * 1024 };

/** Folders that package managers, compilers and test runners fill and can fill again. */
const reproducibleFolders: ReadonlySet<string> = new Set([
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
  'dist',
  'build',
  'out',
  'obj',
]);

const reproducibleEndings = ['.pyc', '.pyo', '.o', '.obj', '.class', '.tsbuildinfo', '.DS_Store'];

export function isReproducible(path: string): boolean {
  const parts = path.split('/').filter((part) => part !== '');
  const name = parts.at(-1) ?? '';
  return (
    parts.some((part) => reproducibleFolders.has(part) || part.endsWith('.egg-info')) ||
    reproducibleEndings.some((ending) => name.endsWith(ending))
  );
}

/** Git names an ignored folder as a whole; it is walked here, within bounds. */
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
    const facts = factsOf(absoluteBytes(root, path));
    if (facts?.isDirectory()) {
      const folder = path.endsWith('/') ? path : `${path}/`;
      const names = await readdir(absoluteBytes(root, folder), 'latin1').catch((): string[] => []);
      // A nested repository below an ignored folder is not listed file by file.
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
