// What this process knows about its slots, so that a slot it has just emptied need not be examined again.

/**
 * `clean`: everything was committed when the task ended; nothing can be lost.
 * `disposable`: a detached checkout for a gate; what is written there is no one's work.
 * Anything else, and everything after a restart: unknown, to be examined before it is overwritten.
 */
export type SlotKnowledge = 'clean' | 'disposable' | 'unknown';

export class SlotMemory {
  readonly #known = new Map<string, SlotKnowledge>();
  readonly #sparse = new Map<string, string>();

  get(path: string): SlotKnowledge {
    return this.#known.get(path) ?? 'unknown';
  }

  set(path: string, knowledge: SlotKnowledge): void {
    if (knowledge === 'unknown') this.#known.delete(path);
    else this.#known.set(path, knowledge);
  }

  /** The cone that was last set up in the slot, or undefined when that is not known. */
  sparse(path: string): string | undefined {
    return this.#sparse.get(path);
  }

  setSparse(path: string, cone: string): void {
    this.#sparse.set(path, cone);
  }

  forget(path: string): void {
    this.#known.delete(path);
    this.#sparse.delete(path);
  }
}
