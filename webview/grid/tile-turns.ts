// When the tiles of a grid ask for news that comes faster than they are read: a few at a time, so
// that they ask by one message and are drawn in one frame.

/** A person cannot read faster updates. */
const turnMs = 125;
/** A frame costs more than a tile in it, but too many tiles are more than a frame has time for. */
const tilesOfTurn = 2;

export class Turns {
  readonly #nowMs: () => number;
  readonly #after: (ms: number, then: () => void) => () => void;
  readonly #waiting = new Map<number, Set<() => void>>();
  #cancel: (() => void) | null = null;
  #nextTurn = Number.POSITIVE_INFINITY;
  #tiles = 0;

  /** `after` calls back later, and returns how to cancel that. */
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

  /** How many tiles there are: more take their turns less often. */
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

/** The first turn behind `nowMs` that is this tile's. */
export function assignTurn(tile: number, tiles: number, nowMs: number): number {
  const groups = Math.max(1, Math.ceil(tiles / tilesOfTurn));
  const first = Math.floor(nowMs / turnMs) + 1;
  return first + ((((tile - first) % groups) + groups) % groups);
}
