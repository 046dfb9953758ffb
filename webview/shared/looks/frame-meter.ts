// Measures the frames while something streams: how long the work on each frame took, the worst and
// the median of a second, and how many screen refreshes passed without a drawing that was due. The
// result is sent to the extension, so that a bench (and a person) can read it. Frames without
// changes are not requested, because they would only cost time.

/** One drawing, in milliseconds of the page's clock. */
export interface DrawnFrame {
  /** The time at which it was requested. */
  readonly dueMs: number;
  /** The screen refresh that it was made for, which can be slightly older than the request. */
  readonly refreshMs: number;
  /** The time at which all of it was laid out and painted. */
  readonly doneMs: number;
}

export interface FrameReport {
  readonly worstMs: number;
  readonly medianMs: number;
  /** Refreshes that passed while a drawing was due or in progress. */
  readonly dropped: number;
  /** Drawings. */
  readonly frames: number;
}

const windowMs = 1000;
/**
 * A hidden window gets no frames, so a longer wait than this means that the window was hidden, not
 * that a frame was slow.
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
 * A drawing is on time if it is done within the refresh after it becomes due. (An idle browser
 * makes the first drawing for the refresh that has just passed: such a drawing is early, and may
 * take correspondingly longer.)
 */
function droppedBy({ dueMs, refreshMs, doneMs }: DrawnFrame, budgetMs: number): number {
  const refreshesBehindDue = Math.floor((refreshMs - dueMs) / budgetMs);
  const firstMs = refreshMs - refreshesBehindDue * budgetMs;
  return Math.max(0, Math.floor((doneMs - firstMs) / budgetMs));
}
