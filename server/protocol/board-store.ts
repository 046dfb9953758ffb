// A copy of the backend's board, updated by its changes in order. Pure: it sends requests through a
// function that it is given.

import type { Notifications } from './api.ts';
import { applyChanges } from './board.ts';
import type { BoardChanges } from './panel-views.ts';
import type { StatusSnapshot } from './views.ts';

export interface BoardSource {
  snapshot(): Promise<StatusSnapshot>;
  changes(after: number): Promise<BoardChanges>;
}

/** `board`: a new board. `changes`: the changes, with the updated board. */
export type BoardChange =
  | { readonly kind: 'board'; readonly board: StatusSnapshot }
  | { readonly kind: 'changes'; readonly changes: BoardChanges; readonly board: StatusSnapshot };

export interface BoardStoreOptions {
  readonly onChange: (change: BoardChange) => void;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Minimum interval between requests for changes, because updates faster than frames are invisible.
 */
export const frameMs = 16;

export interface Delay {
  readonly wait: (ms: number) => Promise<void>;
}

/** Delay after a failed request, whose cause may be temporary. */
const retryMs = 1_000;

export class BoardStore {
  readonly #options: BoardStoreOptions;
  readonly #delay: Delay;
  #source: BoardSource | null = null;
  #board: StatusSnapshot | null = null;
  #wantedSeq = 0;
  /** The source from which changes are being requested. */
  #asked: BoardSource | null = null;

  constructor(options: BoardStoreOptions, delay: Delay) {
    this.#options = options;
    this.#delay = delay;
  }

  get board(): StatusSnapshot | null {
    return this.#board;
  }

  /** Starts with a new connection. The old board stays visible until the new one has arrived. */
  async begin(source: BoardSource): Promise<StatusSnapshot> {
    this.#source = source;
    const board = await source.snapshot();
    if (this.#source === source) {
      this.#wantedSeq = board.seq;
      this.#take(board);
    }
    return board;
  }

  /** Called when the connection is lost. */
  end(): void {
    this.#source = null;
  }

  /** Handles a batch of the feed from the backend. */
  readonly hear = ({ events, changes }: Notifications['events']): void => {
    this.reach(events.at(-1)?.seq ?? 0, changes ?? null);
  };

  /**
   * The feed has reached this number. The board is updated at once if the changes were sent along,
   * otherwise within a frame.
   */
  reach(seq: number, changes: BoardChanges | null = null): void {
    const source = this.#source;
    if (source === null) return;
    if (changes !== null) this.#apply(changes);
    this.#wantedSeq = Math.max(this.#wantedSeq, seq);
    if (!this.#isBehind() || this.#asked === source) return;
    this.#asked = source;
    void this.#follow(source);
  }

  #isBehind(): boolean {
    return this.#board === null || this.#board.seq < this.#wantedSeq;
  }

  /**
   * Ignores changes that would leave a gap. The board is then behind, and changes are requested.
   */
  #apply(changes: BoardChanges): void {
    const board = this.#board;
    if (board === null || changes.seq <= board.seq) return;
    const next = applyChanges(board, changes);
    if (next === null) return;
    this.#board = next;
    this.#options.onChange({ kind: 'changes', changes, board: next });
  }

  #take(board: StatusSnapshot): void {
    this.#board = board;
    this.#options.onChange({ kind: 'board', board });
  }

  /** Requests changes until the board has caught up with the feed, or its source is replaced. */
  async #follow(source: BoardSource): Promise<void> {
    while (source === this.#source && this.#isBehind()) {
      let pauseMs = frameMs;
      try {
        await this.#ask(source);
      } catch (error) {
        if (source === this.#source) this.#options.onFailure(error);
        pauseMs = retryMs;
      }
      await this.#delay.wait(pauseMs);
    }
    if (this.#asked === source) this.#asked = null;
  }

  async #ask(source: BoardSource): Promise<void> {
    const board = this.#board;
    if (board === null) return this.#askAnew(source);
    const wanted = this.#wantedSeq;
    const changes = await source.changes(board.seq);
    if (source !== this.#source) return;
    this.#apply(changes);
    // A backend that is behind its own feed must not be asked endlessly.
    const toldNothing = changes.seq <= board.seq;
    if (toldNothing && this.#wantedSeq === wanted) this.#wantedSeq = this.#seq;
    if (changes.seq > this.#seq) await this.#askAnew(source);
  }

  async #askAnew(source: BoardSource): Promise<void> {
    const board = await source.snapshot();
    if (source !== this.#source) return;
    if (board.seq >= this.#seq) this.#take(board);
    else this.#wantedSeq = this.#seq;
  }

  get #seq(): number {
    return this.#board?.seq ?? 0;
  }
}
