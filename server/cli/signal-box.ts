// Signals that are given at any time and taken one after the other; each kind is kept at most once.

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

  /** The oldest signal; waits for one. */
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
