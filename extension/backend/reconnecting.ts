// Decides when to retry after a connection was lost: immediately, then with growing pauses, and not
// forever.

const firstDelaysMs = [0, 100, 400, 1_000, 2_000, 5_000];
const triesMax = 12;
/**
 * A connection that lasted this long counts as good: the next loss starts with the shortest pause
 * again.
 */
const provedMs = 10_000;

export class Reconnecting {
  readonly #now: () => number;
  #tries = 0;
  #connectedAtMs: number | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  connected(): void {
    this.#connectedAtMs = this.#now();
  }

  /** Returns how long to wait before the next try, or null to stop until the user reconnects. */
  nextDelayMs(): number | null {
    const connectedAtMs = this.#connectedAtMs;
    this.#connectedAtMs = null;
    if (connectedAtMs !== null && this.#now() - connectedAtMs >= provedMs) this.#tries = 0;
    if (this.#tries >= triesMax) return null;
    const delayMs = firstDelaysMs[Math.min(this.#tries, firstDelaysMs.length - 1)] ?? 0;
    this.#tries += 1;
    return delayMs;
  }

  reset(): void {
    this.#tries = 0;
    this.#connectedAtMs = null;
  }
}
