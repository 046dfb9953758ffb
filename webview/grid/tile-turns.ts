// Schedules the requests of a grid's tiles when lines arrive faster than they can be read: a few
// tiles at a time, so that they share one message and one frame.

/** A person cannot read faster updates. */
const turnMs = 125;
/** A frame costs more than one tile in it, but too many tiles exceed the time of a frame. */
const tilesOfTurn = 2;

export class Turns {
  readonly #nowMs: () => number;
  readonly #after: (ms: number, then: () => void) => () => void;
  readonly #waiting = new Map<number, Set<() => void>>();
  #cancel: (() => void) | null = null;
  #nextTurn = Number.POSITIVE_INFINITY;
  #tiles = 0;

  /** `after` schedules a callback, and returns how to cancel it. */
  constructor(
    nowMs: () => number = () => performance.now(),
    after = (ms: number, then: () => void): (() => void) => {
      const timer = setTimeout(then, ms);
      return () => clearTimeout(timer);
    },
  ) {
    this.#nowMs = nowMs;
    this.#after = after;
  }

  /** The number of tiles: with more tiles, each gets its turn less often. */
  set tiles(count: number) {
    this.#tiles = count;
  }

  /** Resolves with the next turn of the tile with this number, or when the signal aborts. */
  next(tile: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    const turn = assignTurn(tile, this.#tiles, this.#nowMs());
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(turn) ?? new Set();
      this.#waiting.set(turn, waiting);
      const end = (): void => {
        signal.removeEventListener('abort', end);
        waiting.delete(end);
        resolve();
      };
      waiting.add(end);
      signal.addEventListener('abort', end, { once: true });
      if (turn < this.#nextTurn) this.#waitFor(turn);
    });
  }

  #waitFor(turn: number): void {
    this.#cancel?.();
    this.#nextTurn = turn;
    this.#cancel = this.#after(turn * turnMs - this.#nowMs(), this.#take);
  }

  readonly #take = (): void => {
    const turn = this.#nextTurn;
    this.#cancel = null;
    this.#nextTurn = Number.POSITIVE_INFINITY;
    for (const [each, waiting] of this.#waiting) {
      if (each > turn) continue;
      this.#waiting.delete(each);
      for (const end of waiting) end();
    }
    const next = Math.min(...this.#waiting.keys());
    if (Number.isFinite(next)) this.#waitFor(next);
  };
}

/** The first turn after `nowMs` that belongs to this tile. */
export function assignTurn(tile: number, tiles: number, nowMs: number): number {
  const groups = Math.max(1, Math.ceil(tiles / tilesOfTurn));
  const first = Math.floor(nowMs / turnMs) + 1;
  return first + ((((tile - first) % groups) + groups) % groups);
}
