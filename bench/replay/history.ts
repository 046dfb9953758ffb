// Windows of a repository's history: its changes, their paths, and which of them need others.

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

/** The last changes up to `tip`, on first parents. */
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

/** By merges in `scratch`, a clone that gets the objects of the attempts. */
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
    // It may be there already, and an earlier change takes it away: then it needs that change.
    if (before === null || made === null || made === before) return false;
    // Merged with all earlier changes, it must be the change of the history: git can put lines in
    // another place without a conflict.
    const landed = mergedTree(scratch, before, `${change.commit}^1`, made);
    return landed === git(scratch, 'rev-parse', `${change.commit}^{tree}`);
  });
}

/** The merge of two trees or commits with a chosen base; null if they conflict. */
function mergedTree(scratch: string, base: string, ours: string, theirs: string): string | null {
  const parent = git(scratch, 'commit-tree', `${base}^{tree}`, '-m', 'replay');
  const [one = '', other = ''] = [ours, theirs].map((side) =>
    git(scratch, 'commit-tree', `${side}^{tree}`, '-p', parent, '-m', 'replay'),
  );
  try {
    return git(scratch, 'merge-tree', '--write-tree', one, other);
  } catch (error) {
    // 1: a conflict. Any other code is a git that cannot do this.
    if ((error as { readonly status?: number }).status === 1) return null;
    throw error;
  }
}
