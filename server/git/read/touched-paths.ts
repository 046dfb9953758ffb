// Which paths the commits made here have touched: who asks what such a commit changed needs no
// process of git's.

import type { Sha } from '../sha.ts';

const commitsMax = 500;
/** What has touched more is not remembered: git is asked. */
const pathsMax = 500;

export class TouchedPaths {
  readonly #known = new Map<string, readonly string[]>();

  /** Every path that differs is among them; one may be that was changed and changed back. */
  note(base: Sha, commit: Sha, paths: readonly string[]): void {
    if (paths.length > pathsMax) return;
    const oldest = this.#known.size >= commitsMax ? this.#known.keys().next().value : undefined;
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(`${base} ${commit}`, paths);
  }

  /** Null: that is not known. */
  of(base: Sha, commit: Sha): readonly string[] | null {
    return this.#known.get(`${base} ${commit}`) ?? null;
  }
}
