// The board as the backend has it, kept by applying its changes in order. Pure: it asks through the function it is given.

import { applyChanges } from '../server/protocol/board.ts';
import type { BoardChanges } from '../server/protocol/panel-views.ts';
import type { StatusSnapshot } from '../server/protocol/views.ts';

export interface BoardSource {
  snapshot(): Promise<StatusSnapshot>;
  changes(after: number): Promise<BoardChanges>;
}

export interface BoardListener {
  /** Everything anew. */
  readonly onBoard: (board: StatusSnapshot) => void;
  readonly onChanges: (changes: BoardChanges, board: StatusSnapshot) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Changes are asked for at most this often: what comes faster than frames nobody sees. */
export const frameMs = 16;

export interface Delay {
  readonly wait: (ms: number) => Promise<void>;
}

const systemDelay: Delay = {
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

export class BoardStore {
  readonly #listener: BoardListener;
  readonly #delay: Delay;
  #source: BoardSource | null = null;
  #board: StatusSnapshot | null = null;
  #wantedSeq = 0;
  #isReading = false;

  constructor(listener: BoardListener, delay: Delay = systemDelay) {
    this.#listener = listener;
    this.#delay = delay;
  }

  get board(): StatusSnapshot | null {
    return this.#board;
  }

  /** A new connection: the board of before stays in sight until the new one is there. */
  async begin(source: BoardSource): Promise<StatusSnapshot> {
    this.#source = source;
    const board = await source.snapshot();
    if (this.#source === source) this.#take(board);
    return board;
  }

  /** The connection is gone. */
  end(): void {
    this.#source = null;
  }

  /** The feed has come to this number: the board follows at once where its changes are told, else within a frame. */
  reach(seq: number, changes: BoardChanges | null = null): void {
    if (changes !== null && !this.#isReading) this.#apply(changes);
    if (this.#board !== null && this.#board.seq >= seq) return;
    this.#wantedSeq = Math.max(this.#wantedSeq, seq);
    if (this.#isReading || this.#source === null) return;
    this.#isReading = true;
    void this.#read();
  }

  /** Changes that leave a gap are left alone: then the board is behind, and asked for. */
  #apply(changes: BoardChanges): void {
    const board = this.#source === null ? null : this.#board;
    if (board === null || changes.seq <= board.seq) return;
    const next = applyChanges(board, changes);
    if (next === null) return;
    this.#board = next;
    this.#listener.onChanges(changes, next);
  }

  #take(board: StatusSnapshot): void {
    this.#board = board;
    this.#wantedSeq = Math.max(this.#wantedSeq, board.seq);
    this.#listener.onBoard(board);
  }

  async #read(): Promise<void> {
    const source = this.#source;
    try {
      while (source !== null && source === this.#source) {
        const board = this.#board;
        if (board !== null && board.seq >= this.#wantedSeq) break;
        await this.#readOnce(source, board);
        await this.#delay.wait(frameMs);
      }
    } catch (error) {
      if (source === this.#source) this.#listener.onFailure(error);
    } finally {
      this.#isReading = false;
    }
  }

  async #readOnce(source: BoardSource, board: StatusSnapshot | null): Promise<void> {
    const changes = board === null ? null : await source.changes(board.seq);
    const next = board === null || changes === null ? null : applyChanges(board, changes);
    if (source !== this.#source) return;
    if (next === null || changes === null) {
      const anew = await source.snapshot();
      if (source === this.#source) this.#take(anew);
      return;
    }
    this.#board = next;
    this.#wantedSeq = Math.max(this.#wantedSeq, next.seq);
    // A backend that is behind its own feed must not be asked without end.
    if (next.seq === board?.seq) this.#wantedSeq = next.seq;
    this.#listener.onChanges(changes, next);
  }
}
