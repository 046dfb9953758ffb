// The board as the backend has it, kept by applying its changes in order. Pure: it asks through the
// function it is given.

import type { Notifications } from './api.ts';
import { applyChanges } from './board.ts';
import type { BoardChanges } from './panel-views.ts';
import type { StatusSnapshot } from './views.ts';

export interface BoardSource {
  snapshot(): Promise<StatusSnapshot>;
  changes(after: number): Promise<BoardChanges>;
}

/** `board`: a new board; `changes`: the changes, with the new board. */
export type BoardChange =
  | { readonly kind: 'board'; readonly board: StatusSnapshot }
  | { readonly kind: 'changes'; readonly changes: BoardChanges; readonly board: StatusSnapshot };

export interface BoardStoreOptions {
  readonly onChange: (change: BoardChange) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Changes are requested at most this often: updates faster than frames are invisible. */
export const frameMs = 16;

export interface Delay {
  readonly wait: (ms: number) => Promise<void>;
}

/** After a question that failed: whatever kept it from being answered may have passed. */
const retryMs = 1_000;

export class BoardStore {
  readonly #options: BoardStoreOptions;
  readonly #delay: Delay;
  #source: BoardSource | null = null;
  #board: StatusSnapshot | null = null;
  #wantedSeq = 0;
  /** Who is being asked for changes. */
  #asked: BoardSource | null = null;

  constructor(options: BoardStoreOptions, delay: Delay) {
    this.#options = options;
    this.#delay = delay;
  }

  get board(): StatusSnapshot | null {
    return this.#board;
  }

  /** A new connection: the former board stays in sight until the new one has arrived. */
  async begin(source: BoardSource): Promise<StatusSnapshot> {
    this.#source = source;
    const board = await source.snapshot();
    if (this.#source === source) {
      this.#wantedSeq = board.seq;
      this.#take(board);
    }
    return board;
  }

  /** The connection is lost. */
  end(): void {
    this.#source = null;
  }

  /** A batch of the feed, as the backend sends it. */
  readonly hear = ({ events, changes }: Notifications['events']): void => {
    this.reach(events.at(-1)?.seq ?? 0, changes ?? null);
  };

  /**
   * The feed has reached this number: the board follows immediately if its changes were sent along,
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

  /** Changes that leave a gap are left alone: then the board is behind, and asked for. */
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

  /**
   * Asks until the board has caught up with the feed, or its source is no longer the current one.
   */
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
    // A backend that is behind its own feed must not be asked without end.
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
