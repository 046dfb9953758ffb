// Which processes are dead, as this one hears them. An expired heartbeat does not prove it after
// the database was unreachable, because none could be sent. It is proof only if this process, in
// touch itself, has waited for the next one.

import type { ExecutorRow } from './executors.ts';

interface Heard {
  readonly beat: string;
  /** For how long this process has looked, and heard nothing new. */
  readonly silentMs: number;
}

/** Looks that hear nothing new. Every process looks, and sends, that often. */
const silentLooks = 3;
/** A busy process may miss one or two. */
const gapLooks = 4;
/**
 * Share of a lifetime: less than passes between the last check that hears a process and its expiry.
 */
const silentPart = 2 / 3;

export class HeardExecutors {
  readonly #lifetimeMs: number;
  readonly #lookEveryMs: number;
  #heard: ReadonlyMap<string, Heard> = new Map();
  #lookedAtMs = 0;

  /** `lookEveryMs`: at most a third of the lifetime of a heartbeat. */
  constructor(lifetimeMs: number, lookEveryMs: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#lookEveryMs = lookEveryMs;
  }

  /** All that are listed now. */
  look(rows: readonly ExecutorRow[], nowMs: number): void {
    const passedMs = Math.min(nowMs - this.#lookedAtMs, this.#lookEveryMs);
    // Between two looks, the database may have been away.
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
   * This process was not in touch for a whole lifetime: the others get one more to find the way
   * back.
   */
  wasAway(): void {
    const silentMs = -this.#lifetimeMs;
    const heard = [...this.#heard];
    this.#heard = new Map(heard.map(([id, { beat }]) => [id, { beat, silentMs }]));
  }

  /** Whether the process's heartbeat has run out. */
  isSilent(id: string): boolean {
    const neededMs = Math.min(this.#lookEveryMs * silentLooks, this.#lifetimeMs * silentPart);
    return (this.#heard.get(id)?.silentMs ?? 0) >= neededMs;
  }
}
