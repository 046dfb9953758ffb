// Measures what is drawn while something streams: how long each drawing waited for its frame, the worst and the median of a
// second, and how many refreshes of the screen passed over one that was due. Reported to the extension, so that a bench
// (and a person) can read it. Frames in which nothing has changed are not asked for: they would only cost.

export interface FrameReport {
  readonly worstMs: number;
  readonly medianMs: number;
  /** Refreshes that passed while a drawing was due. */
  readonly dropped: number;
  /** Drawings. */
  readonly frames: number;
}

const windowMs = 1000;

export class FrameMeter {
  readonly #budgetMs: number;
  readonly #report: (report: FrameReport) => void;
  #waitsMs: number[] = [];
  #windowStart: number | null = null;

  constructor(report: (report: FrameReport) => void, budgetMs = 1000 / 60) {
    this.#report = report;
    this.#budgetMs = budgetMs;
  }

  /** Call in every frame in which something is drawn, with its time and since when it was due. */
  frame(nowMs: number, dueMs: number): void {
    this.#windowStart ??= nowMs;
    this.#waitsMs.push(Math.max(0, nowMs - dueMs));
    if (nowMs - this.#windowStart < windowMs) return;
    this.#report(reportOf(this.#waitsMs, this.#budgetMs));
    this.#waitsMs = [];
    this.#windowStart = nowMs;
  }

  /** The stream rests: the next frame is the first of a new measurement. */
  rest(): void {
    this.#waitsMs = [];
    this.#windowStart = null;
  }
}

/** A drawing that comes with the first refresh after it was due has waited for up to one. */
export function reportOf(waitsMs: readonly number[], budgetMs: number): FrameReport {
  const sorted = [...waitsMs].sort((a, b) => a - b);
  const dropped = sorted.reduce((sum, ms) => sum + Math.max(0, Math.round(ms / budgetMs) - 1), 0);
  return {
    worstMs: sorted.at(-1) ?? 0,
    medianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
    dropped,
    frames: sorted.length,
  };
}
