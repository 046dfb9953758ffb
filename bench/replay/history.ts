// Windows of a repository's history: its changes, their paths, and their dependencies on each
// other.

import { changedIn, readHistory } from '../../test/replay/history.ts';
import { git } from '../repositories.ts';
import { edgesByNeed, type Change, type Edges } from '../../test/replay/plan.ts';

export interface Window {
  /** Commit before the first change. */
  readonly base: string;
  /** Commit of the last change. */
  readonly tip: string;
  readonly changes: readonly Change[];
}

/** The last changes up to `tip`, along first parents. */
export function readWindow(repository: string, tip: string, count: number): Window {
  const history = readHistory(repository, tip, count);
  const changes = history.tasks.map(({ id, commit, title }) => ({
    id: `replay-${id}`,
    commit,
    title,
    files: changedIn(repository, commit),
  }));
  return { base: history.base, tip: changes.at(-1)?.commit ?? history.tip, changes };
}

/** Finds dependencies by merging in `scratch`, a clone that collects the objects. */
export function edgesByMerge(scratch: string, { base, changes }: Window): Edges {
  const trees = new Map<string, string | null>();
  const start = git(scratch, 'rev-parse', `${base}^{tree}`);
  const treeWith = (present: readonly Change[]): string | null => {
    const last = present.at(-1);
    if (last === undefined) return start;
    const key = present.map(({ id }) => id).join(' ');
    const known = trees.get(key);
    if (known !== undefined) return known;
    const before = treeWith(present.slice(0, -1));
    const tree =
      before === null ? null : mergedTree(scratch, `${last.commit}^1`, before, last.commit);
    trees.set(key, tree);
    return tree;
  };
  return edgesByNeed(changes, (change, present) => {
    const before = treeWith(present);
    const made = treeWith([...present, change]);
    // The file may already exist and an earlier change removes it; then this change needs that one.
    if (before === null || made === null || made === before) return false;
    // Merging the change with all earlier changes must give the change in the history, because git
    // can place lines elsewhere without a conflict.
    const landed = mergedTree(scratch, before, `${change.commit}^1`, made);
    return landed === git(scratch, 'rev-parse', `${change.commit}^{tree}`);
  });
}

/** Merges two trees or commits with a given base; returns null if they conflict. */
function mergedTree(scratch: string, base: string, ours: string, theirs: string): string | null {
  const parent = git(scratch, 'commit-tree', `${base}^{tree}`, '-m', 'replay');
  const [one = '', other = ''] = [ours, theirs].map((side) =>
    git(scratch, 'commit-tree', `${side}^{tree}`, '-p', parent, '-m', 'replay'),
  );
  try {
    return git(scratch, 'merge-tree', '--write-tree', one, other);
  } catch (error) {
    // Exit code 1 means a conflict. Any other code means that this git does not support the
    // command.
    if ((error as { readonly status?: number }).status === 1) return null;
    throw error;
  }
}
