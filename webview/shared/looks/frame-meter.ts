// Measures the frames while something streams: how long the work on each frame took, the worst and
// the median of a second, and how many refreshes of the screen passed without a drawing that was
// due. Reported to the extension, so that a bench (and a person) can read it. Unchanged frames are
// not requested: they would only cost.

/** One drawing, in milliseconds of the page's clock. */
export interface DrawnFrame {
  /** When it was asked for. */
  readonly dueMs: number;
  /** The refresh of the screen that it was made for; it can be a little older than the asking. */
  readonly refreshMs: number;
  /** When all of it was laid out and painted. */
  readonly doneMs: number;
}

export interface FrameReport {
  readonly worstMs: number;
  readonly medianMs: number;
  /** Refreshes that passed while a drawing was due or in work. */
  readonly dropped: number;
  /** Drawings. */
  readonly frames: number;
}

const windowMs = 1000;
/**
 * A hidden window gets no frames: a longer wait than this means that it was hidden, not that a
 * frame was slow.
 */
const hiddenMs = 2_000;

export class FrameMeter {
  readonly #budgetMs: number;
  readonly #report: (report: FrameReport) => void;
  #frames: DrawnFrame[] = [];
  #windowStart: number | null = null;

  constructor(report: (report: FrameReport) => void, budgetMs = 1000 / 60) {
    this.#report = report;
    this.#budgetMs = budgetMs;
  }

  /** Call at the end of every frame in which something was drawn. */
  frame(frame: DrawnFrame): void {
    if (frame.doneMs - frame.dueMs > hiddenMs) return;
    this.#windowStart ??= frame.doneMs;
    this.#frames.push(frame);
    if (frame.doneMs - this.#windowStart < windowMs) return;
    this.#tell();
    this.#windowStart = frame.doneMs;
  }

  /** The stream has paused: the measurement is reported, and the next frame starts a new one. */
  rest(): void {
    if (this.#frames.length > 0) this.#tell();
    this.#windowStart = null;
  }

  #tell(): void {
    this.#report(summarizeFrames(this.#frames, this.#budgetMs));
    this.#frames = [];
  }
}

export function summarizeFrames(frames: readonly DrawnFrame[], budgetMs: number): FrameReport {
  const workMs = frames
    .map(({ dueMs, refreshMs, doneMs }) => Math.max(0, doneMs - Math.max(dueMs, refreshMs)))
    .sort((a, b) => a - b);
  return {
    worstMs: workMs.at(-1) ?? 0,
    medianMs: workMs[Math.floor(workMs.length / 2)] ?? 0,
    dropped: frames.reduce((sum, frame) => sum + droppedBy(frame, budgetMs), 0),
    frames: workMs.length,
  };
}

/**
 * A drawing is in time when it is done within the refresh that follows once it is due. (A browser
 * that rests makes the first one for the refresh that has just been: such a drawing is ahead, and
 * may take as much longer.)
 */
function droppedBy({ dueMs, refreshMs, doneMs }: DrawnFrame, budgetMs: number): number {
  const refreshesBehindDue = Math.floor((refreshMs - dueMs) / budgetMs);
  const firstMs = refreshMs - refreshesBehindDue * budgetMs;
  return Math.max(0, Math.floor((doneMs - firstMs) / budgetMs));
}
