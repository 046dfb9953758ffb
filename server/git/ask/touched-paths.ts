// Remembers the paths that commits made here touched, so that reading such a commit's change needs
// no git process.

import { MadeOnce } from '../../core/made-once.ts';
import type { RepositoryContext } from '../context.ts';
import type { Sha } from '../sha.ts';

const commitsMax = 500;
/** Commits that touched more paths are not remembered; git answers for them. */
const pathsMax = 500;

interface Touched {
  readonly base: Sha | null;
  readonly paths: readonly string[];
}

class TouchedPaths {
  readonly #known = new Map<Sha, Touched>();

  /**
   * The paths include every path that differs, and possibly paths that were changed and reverted.
   * `base` is null for the paths of a whole work, which may include merged work.
   */
  note(base: Sha | null, commit: Sha, paths: readonly string[]): void {
    if (paths.length > pathsMax) return;
    const oldest = this.#known.size >= commitsMax ? this.#known.keys().next().value : undefined;
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(commit, { base, paths });
  }

  /** Returns null if unknown. */
  of(base: Sha, commit: Sha): readonly string[] | null {
    const known = this.#known.get(commit);
    return known?.base === base ? known.paths : null;
  }

  /** Paths changed by the work that ends with the commit. Returns null if unknown. */
  by(commit: Sha): readonly string[] | null {
    return this.#known.get(commit)?.paths ?? null;
  }
}

const ofRepository = new MadeOnce<RepositoryContext, TouchedPaths>();

export function touchedPaths(context: RepositoryContext): TouchedPaths {
  return ofRepository.of(context, () => new TouchedPaths());
}
