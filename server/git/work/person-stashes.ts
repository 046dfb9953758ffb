// Stashes of the person, which all worktrees share: `git stash pop` of an agent that has put
// nothing aside takes the person's. What it brought into the slot is taken out again, and the stash
// is back in the list. A stash that is gone for no reason that shows is kept under a ref: the agent
// may have dropped it, or the person.

import { join } from 'node:path';
import { rescueRoot } from '../../core/work/ref-names.ts';
import type { RepositoryContext } from '../context.ts';
import { isSha } from '../files/loose-objects.ts';
import { absoluteBytes, shown, splitZero, type PathBytes } from '../files/paths.ts';
import { readPlain, readText } from '../files/small-files.ts';
import { updateRefs } from '../refs/refs.ts';
import type { Sha } from '../sha.ts';

interface Stash {
  readonly sha: Sha;
  readonly message: string;
}

/** By slot: what the person's list held as the slot was prepared. */
export type StashesBefore = Map<string, readonly Stash[]>;

/** Oldest first; those of attempts are Drover's to take. */
export function personStashes(context: RepositoryContext): readonly Stash[] {
  const log = readText(join(context.commonDir, 'logs', 'refs', 'stash')) ?? '';
  return log.split('\n').flatMap((line) => {
    const [facts = '', message = ''] = line.split('\t');
    const sha = facts.split(' ')[1] ?? '';
    const isOurs = /^(?:WIP on|On) drover\//.test(message);
    return isSha(sha) && !isOurs ? [{ sha, message }] : [];
  });
}

/**
 * Call after the agent has ended, with what the list held before it started. Resolves with files of
 * the slot that still hold something of a popped stash.
 */
export async function returnStashes(
  context: RepositoryContext,
  slot: string,
  before: readonly Stash[],
): Promise<readonly string[]> {
  const present = new Set(personStashes(context).map(({ sha }) => sha));
  const left: string[] = [];
  for (const stash of before) {
    if (present.has(stash.sha)) continue;
    const found = await takeOut(context, slot, stash.sha);
    left.push(...found.left.map(shown));
    if (found.by === 'agent')
      await context.git(['stash', 'store', '-q', '-m', stash.message, stash.sha]);
    if (found.by === 'unknown')
      await updateRefs(
        context,
        [{ ref: `${rescueRoot}stashes/${stash.sha}`, next: stash.sha, old: null }],
        'drover: a stash is gone',
      );
  }
  return left;
}

interface TakenOut {
  readonly by: 'agent' | 'person' | 'unknown';
  readonly left: readonly PathBytes[];
}

async function takeOut(context: RepositoryContext, slot: string, stash: Sha): Promise<TakenOut> {
  const patches = await patchesOf(context, stash);
  const reverse = ['apply', '-R', '--whitespace=nowarn'];
  for (const { patch } of context.isBare ? [] : patches) {
    // What the person has in their checkout, an agent may have merged.
    const theirs = await context.git([...reverse, '--check'], { at: context.root, input: patch });
    if (theirs.code === 0) return { by: 'person', left: [] };
  }
  const left: PathBytes[] = [];
  let by: TakenOut['by'] = 'unknown';
  for (const { path, patch } of patches) {
    const back = await context.git(reverse, { at: slot, input: patch });
    if (back.code !== 0 && !holdsLines(slot, path, patch.toString('latin1'))) continue;
    by = 'agent';
    if (back.code !== 0) left.push(path);
  }
  return { by, left };
}

interface PathPatch {
  readonly path: PathBytes;
  readonly patch: Buffer;
}

/** What a stash has changed, path by path; untracked files are in a commit of their own. */
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

/** Whether every line that the patch adds is in the file. */
function holdsLines(slot: string, path: PathBytes, patch: string): boolean {
  const added = patch
    .split('\n')
    .flatMap((line) => (/^\+(?!\+\+ )./.test(line) ? [line.slice(1)] : []));
  const bytes = readPlain(absoluteBytes(slot, path));
  if (bytes === null) return false;
  const lines = new Set(bytes.toString('latin1').split('\n'));
  return added.length > 0 && added.every((line) => lines.has(line));
}
