// Measures what is drawn while something streams: how long each drawing took from when it was due until its frame was done,
// the worst and the median of a second, and how many refreshes of the screen passed over one that was due. Reported to the
// extension, so that a bench (and a person) can read it. Frames in which nothing has changed are not asked for: they would
// only cost.

export interface FrameReport {
  readonly worstMs: number;
  readonly medianMs: number;
  /** Refreshes that passed while a drawing was due. */
  readonly dropped: number;
  /** Drawings. */
  readonly frames: number;
}

const windowMs = 1000;
/** A window that is hidden is given no frames: a longer wait than this tells of that, not of a slow frame. */
const hiddenMs = 2_000;

export class FrameMeter {
  readonly #budgetMs: number;
  readonly #report: (report: FrameReport) => void;
  #waitsMs: number[] = [];
  #windowStart: number | null = null;

  constructor(report: (report: FrameReport) => void, budgetMs = 1000 / 60) {
    this.#report = report;
    this.#budgetMs = budgetMs;
  }

  /** Call at the end of every frame in which something was drawn, with the time and since when it was due. */
  frame(endMs: number, dueMs: number): void {
    const waitMs = Math.max(0, endMs - dueMs);
    if (waitMs > hiddenMs) return;
    this.#windowStart ??= endMs;
    this.#waitsMs.push(waitMs);
    if (endMs - this.#windowStart < windowMs) return;
    this.#tell();
    this.#windowStart = endMs;
  }

  /** The stream has rested: what was measured before is told, and the next frame is the first of a new measurement. */
  rest(): void {
    if (this.#waitsMs.length > 0) this.#tell();
    this.#windowStart = null;
  }

  #tell(): void {
    this.#report(reportOf(this.#waitsMs, this.#budgetMs));
    this.#waitsMs = [];
  }
}

/** A drawing that is done with the first refresh after it was due has taken up to about one. */
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
