// Watches for silence: first a warning, later the end. Time in which Drover itself owes a response
// does not count.

export interface SilenceOptions {
  readonly warnMs: number;
  /** Null if silence alone ends nothing. */
  readonly endMs: number | null;
  readonly onWarn: (silentMs: number) => void;
  readonly onEnd: () => void;
  /** Silence until this time (`performance.now()`) does not count. */
  readonly quietUntilMs?: () => number;
}

export class SilenceWatch {
  /** How long it had been silent when the limit was reached. */
  silentMs = 0;
  readonly #options: SilenceOptions;
  #aliveAt = performance.now();
  #hasWarned = false;
  #pauses = 0;
  #isStopped = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: SilenceOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** Records activity. */
  touch(): void {
    this.#aliveAt = performance.now();
    // The timer reads `aliveAt` when it fires, so no timer per line is needed except after a
    // warning.
    if (this.#hasWarned) {
      this.#hasWarned = false;
      this.#schedule();
    }
  }

  /** While paused, silence does not count. Calls nest. */
  pause(): void {
    this.#pauses += 1;
    this.#schedule();
  }

  /** Silence counts from now on. */
  resume(): void {
    this.#pauses = Math.max(0, this.#pauses - 1);
    this.touch();
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#isStopped || this.#pauses > 0) return;
    const { endMs, warnMs } = this.#options;
    const limitMs = this.#hasWarned ? endMs : warnMs;
    if (limitMs === null) return;
    const leftMs = this.#aliveAt + limitMs - performance.now();
    this.#timer = setTimeout(() => this.#look(), Math.max(1, leftMs));
  }

  #look(): void {
    this.#timer = null;
    const { endMs, warnMs, onWarn, onEnd, quietUntilMs } = this.#options;
    const quietMs = quietUntilMs?.() ?? 0;
    if (quietMs > this.#aliveAt) this.#aliveAt = quietMs;
    const silentMs = Math.round(performance.now() - this.#aliveAt);
    if (!this.#hasWarned && silentMs >= warnMs) {
      this.#hasWarned = true;
      onWarn(silentMs);
    }
    if (endMs !== null && silentMs >= endMs) {
      this.#isStopped = true;
      this.silentMs = silentMs;
      onEnd();
    }
    this.#schedule();
  }
}
