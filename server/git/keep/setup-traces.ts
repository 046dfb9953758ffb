// Records untracked files below a worktree, and detects later changes to them.

import { lstatSync, readdirSync } from 'node:fs';
import { normalize } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { absoluteBytes, type PathBytes } from '../../files/path-bytes.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { Traces } from '../slot-port.ts';

/** Entries to check before yielding to other work. */
const looksAtOnce = 500;

export function unversioned(
  entries: readonly { readonly kind: string; readonly path: PathBytes }[],
): readonly PathBytes[] {
  return entries
    .filter(({ kind }) => kind === 'ignored' || kind === 'untracked')
    .map(({ path }) => path.replace(/\/$/, ''));
}

/** Walks the given files and folders without following links. */
export async function collectTraces(
  worktree: Pick<LinkedWorktree, 'path'>,
  from: readonly PathBytes[],
  leave: readonly string[],
): Promise<Traces> {
  const left = new Set(leave.map((path) => Buffer.from(normalize(path)).toString('latin1')));
  const traces = new Map<PathBytes, string>();
  const waiting = [...from];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (left.has(path)) continue;
    const trace = readTrace(worktree.path, path);
    if (trace === null) continue;
    traces.set(path, trace);
    if (trace === '') waiting.push(...namesBelow(worktree.path, path));
    if (traces.size % looksAtOnce === 0) await yieldToEventLoop();
  }
  return traces;
}

export function readTrace(root: string, path: PathBytes): string | null {
  const facts = lstatSync(absoluteBytes(root, path), { throwIfNoEntry: false, bigint: true });
  if (facts === undefined) return null;
  if (facts.isDirectory()) return '';
  // Another hard link to the same file, as some package managers create, changes its ctime.
  const changedNs = facts.nlink === 1n ? facts.ctimeNs : 0n;
  return `${facts.size} ${facts.mtimeNs} ${changedNs} ${facts.ino}`;
}

function namesBelow(root: string, folder: PathBytes): readonly PathBytes[] {
  try {
    const names = readdirSync(absoluteBytes(root, folder), 'latin1');
    return names.map((name) => `${folder}/${name}`);
  } catch {
    return [];
  }
}
