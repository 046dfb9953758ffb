// Paths that the commits made here have touched, so that a query for the change of such a commit
// needs no git process.

import { MadeOnce } from '../../core/made-once.ts';
import type { RepositoryContext } from '../context.ts';
import type { Sha } from '../sha.ts';

const commitsMax = 500;
/** Commits that touched more are not remembered: git is asked. */
const pathsMax = 500;

interface Touched {
  readonly base: Sha | null;
  readonly paths: readonly string[];
}

class TouchedPaths {
  readonly #known = new Map<Sha, Touched>();

  /**
   * Every path that differs is among them; one may be that was changed and changed back. No base:
   * they are those of a work, which may have taken in others.
   */
  note(base: Sha | null, commit: Sha, paths: readonly string[]): void {
    if (paths.length > pathsMax) return;
    const oldest = this.#known.size >= commitsMax ? this.#known.keys().next().value : undefined;
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(commit, { base, paths });
  }

  /** Null if unknown. */
  of(base: Sha, commit: Sha): readonly string[] | null {
    const known = this.#known.get(commit);
    return known?.base === base ? known.paths : null;
  }

  /** Paths changed by the work that ends with the commit. Returns null if they are unknown. */
  by(commit: Sha): readonly string[] | null {
    return this.#known.get(commit)?.paths ?? null;
  }
}

const ofRepository = new MadeOnce<RepositoryContext, TouchedPaths>();

export function touchedPaths(context: RepositoryContext): TouchedPaths {
  return ofRepository.of(context, () => new TouchedPaths());
}
