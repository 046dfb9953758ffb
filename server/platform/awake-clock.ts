// A clock that stops while the machine sleeps. On some systems the monotonic clock also stops, on
// others it continues and timers are late. So this one ticks, and a long gap between two ticks
// counts as sleep.

export interface AwakeSources {
  /** Unix milliseconds. */
  readonly wallMs: () => number;
  /** Never decreases. */
  readonly monotonicMs: () => number;
}

/** Time without the machine's sleep. */
export interface AwakeTime {
  /** Milliseconds that the machine was awake, from an arbitrary start. */
  readonly nowMs: () => number;
  /** When it last woke up, by `performance.now()`; 0 if it never slept. */
  readonly wokeAtMs: () => number;
}

const tickMs = 1_000;
/** Shorter gaps occur on a busy machine. */
const gapMinMs = 60_000;

export class AwakeClock implements AwakeTime {
  readonly #sources: AwakeSources;
  readonly #onSlept: (sleptMs: number) => void;
  readonly #timer: NodeJS.Timeout;
  #wallMs: number;
  #monotonicMs: number;
  #awakeMs = 0;
  #wokeAtMs = 0;

  /** `onSlept` is called once after each sleep, and when the clock was set forward. */
  constructor(sources: AwakeSources, onSlept: (sleptMs: number) => void) {
    this.#sources = sources;
    this.#onSlept = onSlept;
    this.#wallMs = sources.wallMs();
    this.#monotonicMs = sources.monotonicMs();
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  readonly nowMs = (): number => {
    this.#tick();
    return this.#awakeMs;
  };

  readonly wokeAtMs = (): number => {
    this.#tick();
    return this.#wokeAtMs;
  };

  end(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const [wallMs, monotonicMs] = [this.#sources.wallMs(), this.#sources.monotonicMs()];
    const passedMs = monotonicMs - this.#monotonicMs;
    const awakeMs = passedMs >= gapMinMs ? tickMs : passedMs;
    const sleptMs = Math.max(passedMs, wallMs - this.#wallMs) - awakeMs;
    this.#wallMs = wallMs;
    this.#monotonicMs = monotonicMs;
    this.#awakeMs += awakeMs;
    if (sleptMs < gapMinMs) return;
    this.#wokeAtMs = monotonicMs;
    this.#onSlept(sleptMs);
  }
}

/** Calls back once after this time, not counting the machine's sleep. */
export class AwakeTimer {
  readonly #nowMs: () => number;
  readonly #endMs: number;
  readonly #callback: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    ms: number,
    { nowMs = () => performance.now() }: Partial<AwakeTime>,
    callback: () => void,
  ) {
    this.#nowMs = nowMs;
    this.#endMs = nowMs() + ms;
    this.#callback = callback;
    this.#wait(ms);
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => {
      const leftMs = this.#endMs - this.#nowMs();
      if (leftMs > 0) this.#wait(leftMs);
      else this.#callback();
    }, ms);
  }
}
