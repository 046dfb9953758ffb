// Watches for silence: a warning first, later the end. Time in which we ourselves owe an answer
// does not count.

export interface SilenceOptions {
  readonly warnMs: number;
  /** Null if silence alone ends nothing. */
  readonly endMs: number | null;
  readonly onWarn: (silentMs: number) => void;
  readonly onEnd: () => void;
  /** Silence until this moment (`performance.now()`) does not count. */
  readonly quietUntilMs?: () => number;
}

export class SilenceWatch {
  /** How long it was silent when that was too long. */
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

  /** A sign of life. */
  touch(): void {
    this.#aliveAt = performance.now();
    // The timer reads `aliveAt` when it fires: no timer per line is needed, except after a warning.
    if (this.#hasWarned) {
      this.#hasWarned = false;
      this.#schedule();
    }
  }

  /** While paused no silence counts. Calls nest. */
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
