// What this process knows about its slots, so that a slot it has just emptied need not be examined again.

import { join } from 'node:path';
import { exists, factsOf, readText } from './small-files.ts';
import type { LinkedWorktree } from './worktree-link.ts';

/**
 * `clean`: everything was committed when the task ended; nothing can be lost.
 * `disposable`: a detached checkout for a gate; what is written there is no one's work.
 * Anything else, and everything after a restart: unknown, to be examined before it is overwritten.
 */
export type SlotKnowledge = 'clean' | 'disposable' | 'unknown';

/** Lies in the private folder of a gate's checkout, so that a restart does not take a gate's output for work. */
export const disposableMark = 'drover-disposable';

export class SlotMemory {
  readonly #clean = new Map<string, string>();
  readonly #sparse = new Map<string, string>();

  get(worktree: LinkedWorktree): SlotKnowledge {
    const clean = this.#clean.get(worktree.path);
    if (clean !== undefined && clean === traceOf(worktree)) return 'clean';
    return exists(join(worktree.gitDir, disposableMark)) ? 'disposable' : 'unknown';
  }

  setClean(worktree: LinkedWorktree): void {
    this.#clean.set(worktree.path, traceOf(worktree));
  }

  /** The slot goes to a new user. */
  setUsed(path: string): void {
    this.#clean.delete(path);
  }

  /** The cone that was last set up in the slot, or undefined when that is not known. */
  sparse(path: string): string | undefined {
    return this.#sparse.get(path);
  }

  setSparse(path: string, cone: string): void {
    this.#sparse.set(path, cone);
  }

  forget(path: string): void {
    this.#clean.delete(path);
    this.#sparse.delete(path);
  }
}

/** Changes when somebody commits, switches, adds or resets in a slot that was left clean. */
function traceOf(worktree: LinkedWorktree): string {
  const head = readText(join(worktree.gitDir, 'HEAD'));
  const log = factsOf(join(worktree.gitDir, 'logs', 'HEAD'));
  const index = factsOf(join(worktree.gitDir, 'index'));
  return `${head} ${log?.size} ${index?.ino} ${index?.size} ${index?.mtimeMs}`;
}
