// Stashes of the user, which all worktrees share: `git stash pop` of an agent that has stashed
// nothing takes the user's. Drover does not write the list. A stash that is gone from it is kept
// under a ref, and files of the slot that hold its changes wait for a review.

import { join } from 'node:path';
import { rescueRoot } from '../../core/work/ref-names.ts';
import { quoted } from '../../core/format.ts';
import type { RepositoryContext } from '../context.ts';
import { absoluteBytes, shown, splitZero, type PathBytes } from '../files/paths.ts';
import { readPlain, readText } from '../files/small-files.ts';
import { readRef, updateRefs } from '../refs/refs.ts';
import type { SharedChange } from '../slot-port.ts';
import { isSha, type Sha } from '../sha.ts';

export interface Stash {
  readonly sha: Sha;
  readonly message: string;
}

/** Oldest first, without those that attempts have made. */
export function personStashes(context: RepositoryContext): readonly Stash[] {
  const log = readText(join(context.commonDir, 'logs', 'refs', 'stash')) ?? '';
  return log.split('\n').flatMap((line) => {
    const [facts = '', message = ''] = line.split('\t');
    const sha = facts.split(' ')[1] ?? '';
    const isOurs = /^(?:WIP on|On) drover\//.test(message);
    return isSha(sha) && !isOurs ? [{ sha, message }] : [];
  });
}

function goneStashes(context: RepositoryContext, before: readonly Stash[]): readonly Stash[] {
  if (before.length === 0) return [];
  const present = new Set(personStashes(context).map(({ sha }) => sha));
  return before.filter(({ sha }) => !present.has(sha));
}

/** Gives each stash that is gone a ref, and reports those that have none yet. */
export async function keepGone(
  context: RepositoryContext,
  before: readonly Stash[],
): Promise<readonly SharedChange[]> {
  const changes: SharedChange[] = [];
  for (const { sha, message } of goneStashes(context, before)) {
    const ref = `${rescueRoot}stashes/${sha}`;
    if ((await readRef(context, ref)) !== null) continue;
    const change = { ref, next: sha, old: null };
    const kept = await updateRefs(context, [change], 'drover: a stash is gone');
    if (!kept.ok) continue;
    const restore = `git stash store -m ${quoted(message)} ${sha}`;
    changes.push({ kind: 'stash', message, ref, restore });
  }
  return changes;
}

/** Files of the slot that hold a change from a stash that is gone, unless the user has it too. */
export async function filesWithStashes(
  context: RepositoryContext,
  slot: string,
  before: readonly Stash[],
): Promise<readonly PathBytes[]> {
  const found: PathBytes[] = [];
  for (const { sha } of goneStashes(context, before)) {
    const patches = await patchesOf(context, sha);
    if (await isInCheckout(context, patches)) continue;
    for (const { path, patch } of patches)
      if (await holds(context, slot, { path, patch })) found.push(path);
  }
  return found;
}

/** The user has popped it, and an agent may have merged what they committed. */
async function isInCheckout(
  context: RepositoryContext,
  patches: readonly PathPatch[],
): Promise<boolean> {
  for (const { patch } of context.isBare ? [] : patches)
    if (await isApplied(context, context.root, patch)) return true;
  return false;
}

async function holds(
  context: RepositoryContext,
  slot: string,
  { path, patch }: PathPatch,
): Promise<boolean> {
  if (await isApplied(context, slot, patch)) return true;
  const added = patch
    .toString('latin1')
    .split('\n')
    .flatMap((line) => (/^\+(?!\+\+ )./.test(line) ? [line.slice(1)] : []));
  const lines = readPlain(absoluteBytes(slot, path))?.toString('latin1').split('\n');
  const present = new Set(lines);
  return added.length > 0 && added.every((line) => present.has(line));
}

async function isApplied(context: RepositoryContext, at: string, patch: Buffer): Promise<boolean> {
  const args = ['apply', '-R', '--check', '--whitespace=nowarn'];
  return (await context.git(args, { at, input: patch })).code === 0;
}

interface PathPatch {
  readonly path: PathBytes;
  readonly patch: Buffer;
}

/** The changes of a stash, path by path; untracked files are in a commit of their own. */
async function patchesOf(context: RepositoryContext, stash: Sha): Promise<readonly PathPatch[]> {
  const found: PathPatch[] = [];
  for (const range of [
    [`${stash}^1`, stash],
    ['--root', '--no-commit-id', `${stash}^3`],
  ]) {
    const args = ['--literal-pathspecs', 'diff-tree', '-r', '--no-renames'];
    const names = await context.git([...args, '--name-only', '-z', ...range]);
    if (names.code !== 0) continue;
    for (const path of splitZero(names.stdout)) {
      const how = ['-p', '--binary', '--full-index', ...range, '--', shown(path)];
      const patch = await context.git([...args, ...how]);
      if (patch.code === 0) found.push({ path, patch: patch.stdout });
    }
  }
  return found;
}
