// Signals that may arrive at any time and are handled one after another. At most one of each kind
// is queued.

export class SignalBox<S extends string> {
  readonly #waiting = new Set<S>();
  #wake: () => void = () => {};

  give(signal: S): void {
    this.#waiting.add(signal);
    this.#wake();
  }

  drop(signal: S): void {
    this.#waiting.delete(signal);
  }

  /** Returns the oldest signal, waiting for one if necessary. */
  async take(): Promise<S> {
    for (;;) {
      for (const signal of this.#waiting) {
        this.#waiting.delete(signal);
        return signal;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
