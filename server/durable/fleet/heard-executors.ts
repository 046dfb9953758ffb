// Which processes are dead, as observed by this one. After the database was unreachable, an expired
// heartbeat does not prove it, because none could be sent. It is proof only if this process was
// connected itself and waited for the next heartbeat.

import type { ExecutorRow } from './executors.ts';

interface Heard {
  readonly beat: string;
  /** How long this process has observed no new heartbeat. */
  readonly silentMs: number;
}

/**
 * Number of observations without a new heartbeat. Every process observes, and sends, at that rate.
 */
const silentLooks = 3;
/** A busy process may miss one or two. */
const gapLooks = 4;
/**
 * Share of a lifetime: less than the time between the last check that hears a process and its
 * expiry.
 */
const silentPart = 2 / 3;

export class HeardExecutors {
  readonly #lifetimeMs: number;
  readonly #lookEveryMs: number;
  #heard: ReadonlyMap<string, Heard> = new Map();
  #lookedAtMs = 0;

  /** `lookEveryMs`: at most a third of a heartbeat's lifetime. */
  constructor(lifetimeMs: number, lookEveryMs: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#lookEveryMs = lookEveryMs;
  }

  /** `rows`: all processes that are currently listed. */
  look(rows: readonly ExecutorRow[], nowMs: number): void {
    const passedMs = Math.min(nowMs - this.#lookedAtMs, this.#lookEveryMs);
    // The database may have been unreachable between two observations.
    const isGap = nowMs - this.#lookedAtMs > this.#lookEveryMs * gapLooks;
    this.#lookedAtMs = nowMs;
    const before = this.#heard;
    this.#heard = new Map(
      rows.map(({ id, beat }) => {
        const known = before.get(id);
        if (known?.beat !== beat) return [id, { beat, silentMs: 0 }];
        const silentMs = isGap ? Math.min(known.silentMs, 0) : known.silentMs + passedMs;
        return [id, { beat, silentMs }];
      }),
    );
  }

  /**
   * This process was disconnected for a whole lifetime, so the others get another one to reconnect.
   */
  wasAway(): void {
    const silentMs = -this.#lifetimeMs;
    const heard = [...this.#heard];
    this.#heard = new Map(heard.map(([id, { beat }]) => [id, { beat, silentMs }]));
  }

  /** Whether the process's heartbeat has expired. */
  isSilent(id: string): boolean {
    const neededMs = Math.min(this.#lookEveryMs * silentLooks, this.#lifetimeMs * silentPart);
    return (this.#heard.get(id)?.silentMs ?? 0) >= neededMs;
  }
}
