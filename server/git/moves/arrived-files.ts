// Files that a move of a checkout has written and that are gone again: `git clean` locks nothing,
// and takes for untracked what the index does not have yet.

import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { asBytes, type PathBytes, shown, splitZero, zeroEnded } from '../files/paths.ts';
import { factsOf } from '../files/small-files.ts';
import { isAncestor } from '../read/ancestry.ts';
import type { Sha } from '../sha.ts';

export interface ArrivedFiles {
  readonly at: string;
  /** The index that has them. */
  readonly index: string;
  readonly from: Sha;
  readonly to: Sha;
}

/**
 * `wereCommands`: some have just ended there. Without them, only what Drover knows to have arrived
 * is checked: that costs no process.
 */
export async function writeMissing(
  context: RepositoryContext,
  { at, index, from, to }: ArrivedFiles,
  wereCommands: boolean,
): Promise<void> {
  const known = await touchedOnLine(context, from, to);
  const paths = known ?? (wereCommands ? await addedPaths(context, from, to) : []);
  const missing = paths.filter((path) => factsOf(join(at, shown(path))) === null);
  if (missing.length === 0) return;
  // What the move has deleted is not in the index: git says so, and writes the others.
  const input = zeroEnded(missing);
  const env = { GIT_INDEX_FILE: index };
  await context.git(['checkout-index', '-q', '-u', '-z', '--stdin'], { at, input, env });
}

async function addedPaths(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
): Promise<readonly PathBytes[]> {
  const named = ['-z', '--name-only', '--no-renames', '--diff-filter=A'];
  const added = await context.git(['diff-tree', '-r', ...named, from, to]);
  return added.code === 0 ? splitZero(added.stdout) : [];
}

/** Commits to read for one answer. */
const readsMax = 50;

/** What has come into a line between two of its commits has touched; null: not known. */
async function touchedOnLine(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
): Promise<readonly PathBytes[] | null> {
  const { objects, touched } = context;
  const paths = new Set<string>();
  let reads = 0;
  const collect = async (tip: Sha): Promise<boolean> => {
    for (let at: Sha | undefined = tip; at !== from;) {
      const found = touched.by(at);
      for (const path of found ?? []) paths.add(path);
      if (found !== null) return true;
      if ((reads += 1) > readsMax) return false;
      const [before, merged]: readonly Sha[] = (await objects.commit(at))?.parents ?? [];
      // A commit of a person, who has it already, or the start of an epic's line.
      if (merged === undefined || before === undefined) return isAncestor(context, at, from);
      if (!(await collect(merged))) return false;
      at = before;
    }
    return true;
  };
  return (await collect(to)) ? [...paths].map(asBytes) : null;
}
