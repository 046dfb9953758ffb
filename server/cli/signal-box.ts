// Signals that are given at any time and taken one after the other; each kind is kept at most once.

export class SignalBox<S extends string> {
  private readonly waiting = new Set<S>();
  private wake: () => void = () => {};

  give(signal: S): void {
    this.waiting.add(signal);
    this.wake();
  }

  drop(signal: S): void {
    this.waiting.delete(signal);
  }

  /** The oldest signal, or null after `waitMs` without one. */
  async take(waitMs: number): Promise<S | null> {
    if (this.waiting.size === 0) await this.change(waitMs);
    for (const signal of this.waiting) {
      this.waiting.delete(signal);
      return signal;
    }
    return null;
  }

  /** True when `signal` came within `waitMs`; others are left for later. */
  async takeOnly(signal: S, waitMs: number): Promise<boolean> {
    const endMs = performance.now() + waitMs;
    while (!this.waiting.has(signal)) {
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) return false;
      await this.change(leftMs);
    }
    this.waiting.delete(signal);
    return true;
  }

  private change(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
