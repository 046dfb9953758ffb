// Finds files of a worktree that contain conflict markers.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { conflictStart, countMarked } from '../../core/work/merge-faults.ts';
import type { RepositoryContext } from '../context.ts';
import { absoluteBytes, type PathBytes, shown, splitZero } from '../../files/path-bytes.ts';
import type { Sha } from '../sha.ts';
import type { StatusEntry } from './status-format.ts';

const maxMarkerFileBytes = 8 * 1024 * 1024;
/** Maximum number of files read. */
const readsMax = 200;

/**
 * Returns the given files that contain markers. A file that is too large to read counts as one of
 * them.
 */
export async function withMarks(root: string, paths: readonly PathBytes[]): Promise<string[]> {
  const marked: string[] = [];
  for (const path of paths.slice(0, readsMax)) {
    const content = await contentOf(absoluteBytes(root, path));
    if (content === null) continue;
    if (content === 'large' || countMarked(content.text) > 0) marked.push(shown(path));
  }
  return marked;
}

/** Returns null if it is not a regular file, because an agent may have replaced it. */
async function contentOf(file: Buffer): Promise<{ readonly text: string } | 'large' | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    await using handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const facts = await handle.stat();
    if (!facts.isFile()) return null;
    if (facts.size > maxMarkerFileBytes) return 'large';
    return { text: await handle.readFile('latin1') };
  } catch {
    return null;
  }
}

/**
 * Files that git calls unmerged, and files to which markers were added since `base`, committed or
 * not, if they still contain markers.
 */
export async function markedSince(
  context: RepositoryContext,
  path: string,
  base: Sha,
  entries: readonly StatusEntry[],
): Promise<readonly string[]> {
  const unmerged = entries.filter((entry) => entry.kind === 'unmerged').map((entry) => entry.path);
  const options = ['--no-ext-diff', '--no-textconv', '--no-renames', '--ignore-submodules=all'];
  const changed = await context.git(
    ['diff', '--name-only', '-z', ...options, `-S${conflictStart}`, base, '--'],
    { at: path },
  );
  const added = changed.code === 0 ? splitZero(changed.stdout) : [];
  return withMarks(path, [...new Set([...unmerged, ...added])]);
}
