// A clock that stops until a test moves it.

import type { Clock } from '../../server/durable/port.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export class ManualClock implements Clock {
  #now: number;
  readonly #timers = new Set<Timer>();

  constructor(now = 1_800_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  timer(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Timers that are set and have neither fired nor been canceled. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Fires due timers in order, and completes the effects of each before the next. */
  async advance(byMs: number): Promise<void> {
    const end = this.#now + byMs;
    for (;;) {
      await settled();
      const due = [...this.#timers].filter((timer) => timer.at <= end);
      due.sort((a, b) => a.at - b.at);
      const next = due[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = end;
    await settled();
  }
}

/** All pending promises have settled after a few turns of the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
