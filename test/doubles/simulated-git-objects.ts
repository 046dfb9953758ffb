// Commits and trees of the simulated repository: a tree maps paths to contents, and a merge is
// three-way on whole files.

import { createHash } from 'node:crypto';
import type { Sha } from '../../server/git/sha.ts';

export type Files = ReadonlyMap<string, string>;

export interface SimulatedCommit {
  readonly sha: Sha;
  readonly tree: Sha;
  readonly parents: readonly Sha[];
  readonly subject: string;
  readonly trailers: readonly string[];
  readonly by: 'drover' | 'agent' | 'person';
}

export class GitObjects {
  readonly #commits = new Map<Sha, SimulatedCommit>();
  readonly #trees = new Map<Sha, Files>();
  readonly #ancestors = new Map<Sha, ReadonlySet<Sha>>();

  writeTree(files: Files): Sha {
    const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
    const sha = digest(`tree ${JSON.stringify(sorted)}`);
    if (!this.#trees.has(sha)) this.#trees.set(sha, new Map(sorted));
    return sha;
  }

  /** As in git, a commit's name depends on the second in which it was created. */
  writeCommit(commit: Omit<SimulatedCommit, 'sha'>, nowMs: number): Sha {
    const sha = digest(`commit ${JSON.stringify(commit)} ${Math.floor(nowMs / 1000)}`);
    if (!this.#commits.has(sha)) this.#commits.set(sha, { ...commit, sha });
    return sha;
  }

  has(sha: Sha): boolean {
    return this.#commits.has(sha);
  }

  commit(sha: Sha): SimulatedCommit {
    const commit = this.#commits.get(sha);
    if (commit === undefined) throw new Error(`there is no commit ${sha}`);
    return commit;
  }

  /** The commit with this short id. */
  withPrefix(short: string): Sha {
    for (const sha of this.#commits.keys()) if (sha.startsWith(short)) return sha;
    throw new Error(`there is no commit ${short}`);
  }

  filesOf(sha: Sha): Files {
    return this.#trees.get(this.commit(sha).tree) as Files;
  }

  treeFiles(tree: Sha): Files {
    return this.#trees.get(tree) as Files;
  }

  /** The commit itself and all its ancestors. */
  ancestors(sha: Sha): ReadonlySet<Sha> {
    const known = this.#ancestors.get(sha);
    if (known !== undefined) return known;
    const found = new Set<Sha>([sha]);
    for (const parent of this.commit(sha).parents) {
      for (const each of this.ancestors(parent)) found.add(each);
    }
    this.#ancestors.set(sha, found);
    return found;
  }

  isAncestor(ancestor: Sha, descendant: Sha): boolean {
    return this.has(descendant) && this.ancestors(descendant).has(ancestor);
  }

  /** Walks from the tip along the first parents, starting with the tip. */
  firstParents(tip: Sha): SimulatedCommit[] {
    const line: SimulatedCommit[] = [];
    let next: Sha | undefined = tip;
    while (next !== undefined) {
      const commit = this.commit(next);
      line.push(commit);
      next = commit.parents[0];
    }
    return line;
  }

  mergeBase(one: Sha, two: Sha): Sha | null {
    const common = [...this.ancestors(one)].filter((sha) => this.ancestors(two).has(sha));
    const best = common.filter(
      (sha) => !common.some((other) => other !== sha && this.ancestors(other).has(sha)),
    );
    return best.sort()[0] ?? null;
  }

  /** `from`: the merge base to use, whatever the history says. */
  mergeFiles(
    one: Sha,
    two: Sha,
    from: Sha | null = null,
  ): { readonly files: Files; readonly conflicts: readonly string[] } {
    const base = from ?? this.mergeBase(one, two);
    const before = base === null ? new Map<string, string>() : this.filesOf(base);
    const ours = this.filesOf(one);
    const theirs = this.filesOf(two);
    const files = new Map<string, string>();
    const conflicts: string[] = [];
    for (const path of new Set([...ours.keys(), ...theirs.keys()])) {
      const [was, left, right] = [before.get(path), ours.get(path), theirs.get(path)];
      const merged = left === right || right === was ? left : left === was ? right : null;
      if (merged === null) conflicts.push(path);
      else if (merged !== undefined) files.set(path, merged);
    }
    return { files, conflicts: conflicts.sort() };
  }
}

function digest(text: string): Sha {
  return createHash('sha1').update(text).digest('hex');
}

/** Paths whose contents differ. */
export function changedBetween(one: Files, two: Files): string[] {
  const paths = new Set([...one.keys(), ...two.keys()]);
  return [...paths].filter((path) => one.get(path) !== two.get(path)).sort();
}
