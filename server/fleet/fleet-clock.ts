// One clock for all machines of a fleet, because each compares recorded times of others with its
// own.

import { systemClock } from '../durable/embedded/system-clock.ts';
import type { Clock } from '../durable/port.ts';
import { databaseNowMs, type Reads } from '../store/port.ts';

/** The database's time, computed from this machine's clock and its offset. */
export class FleetClock implements Clock {
  #offsetMs = 0;

  now(): number {
    return systemClock.now() + this.#offsetMs;
  }

  timer(delayMs: number, callback: () => void): () => void {
    return systemClock.timer(delayMs, callback);
  }

  /** How far this machine's clock is ahead of the database's; negative if it is behind. */
  get aheadMs(): number {
    return -this.#offsetMs;
  }

  async compare(db: Reads): Promise<void> {
    await this.comparing(() => databaseNowMs(db));
  }

  /** `ask` resolves with the database's time. Its other work counts as latency. */
  async comparing(ask: () => Promise<number>): Promise<void> {
    const startMs = performance.now();
    const databaseMs = await ask();
    const tookMs = performance.now() - startMs;
    const offsetMs = Math.round(databaseMs + tookMs / 2 - systemClock.now());
    // Within the possible latency, the last offset is equally accurate and must not jitter.
    if (Math.abs(offsetMs - this.#offsetMs) > Math.max(tookMs, trembleMs)) {
      this.#offsetMs = offsetMs;
    }
  }
}

const trembleMs = 50;
