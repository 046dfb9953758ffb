// A clock that moves only when the simulation takes the next event of its queue.

import type { Clock } from '../../server/durable/port.ts';

interface QueuedEvent {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
  calledOff: boolean;
}

export class SimulatedClock implements Clock {
  #nowMs: number;
  #order = 0;
  /**
   * In the order of their time; events with equal times are in the order in which they were
   * requested.
   */
  readonly #queue: QueuedEvent[] = [];

  constructor(nowMs = 1_800_000_000_000) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  timer(delayMs: number, callback: () => void): () => void {
    return this.at(this.#nowMs + Math.max(0, delayMs), callback);
  }

  at(atMs: number, callback: () => void): () => void {
    const event: QueuedEvent = { atMs, order: this.#order, callback, calledOff: false };
    this.#order += 1;
    let low = 0;
    let high = this.#queue.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#queue[middle] as QueuedEvent).atMs <= atMs) low = middle + 1;
      else high = middle;
    }
    this.#queue.splice(low, 0, event);
    return () => {
      event.calledOff = true;
    };
  }

  /** Time passes without events, as on a machine that was asleep. */
  jump(byMs: number): void {
    this.#nowMs += byMs;
  }

  /** Takes the next event; returns false if there is none. */
  step(): boolean {
    for (;;) {
      const event = this.#queue.shift();
      if (event === undefined) return false;
      if (event.calledOff) continue;
      this.#nowMs = Math.max(this.#nowMs, event.atMs);
      event.callback();
      return true;
    }
  }
}
