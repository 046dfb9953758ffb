// Measures frames while something streams: how long the worst and the median one of a second took, and how many refreshes
// of the screen were missed. Reported to the extension, so that a bench (and a person) can read it.

export interface FrameReport {
  readonly worstMs: number;
  readonly medianMs: number;
  /** Refreshes that passed without a frame of ours. */
  readonly dropped: number;
  readonly frames: number;
}

const windowMs = 1000;
/** A gap longer than this is a hidden window, not a slow frame. */
const pauseMs = 2000;

export class FrameMeter {
  readonly #budgetMs: number;
  readonly #report: (report: FrameReport) => void;
  #gaps: number[] = [];
  #windowStart = 0;
  #last: number | null = null;

  constructor(report: (report: FrameReport) => void, budgetMs = 1000 / 60) {
    this.#report = report;
    this.#budgetMs = budgetMs;
  }

  /** Call in every animation frame while something streams, with its time. */
  frame(nowMs: number): void {
    const gap = this.#last === null ? null : nowMs - this.#last;
    this.#last = nowMs;
    if (gap === null || gap > pauseMs) {
      this.#gaps = [];
      this.#windowStart = nowMs;
      return;
    }
    this.#gaps.push(gap);
    if (nowMs - this.#windowStart < windowMs) return;
    this.#report(reportOf(this.#gaps, this.#budgetMs));
    this.#gaps = [];
    this.#windowStart = nowMs;
  }

  /** The stream rests: the next frame is the first of a new measurement. */
  rest(): void {
    this.#last = null;
    this.#gaps = [];
  }
}

export function reportOf(gapsMs: readonly number[], budgetMs: number): FrameReport {
  const sorted = [...gapsMs].sort((a, b) => a - b);
  const dropped = sorted.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / budgetMs) - 1), 0);
  return {
    worstMs: sorted.at(-1) ?? 0,
    medianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
    dropped,
    frames: sorted.length,
  };
}
