// Follows one agent's log for a tile: at each turn, it reads the newest lines and counts the
// omitted ones.

import type { LogLineView } from '../../server/protocol/log-line.ts';
import {
  inTime,
  type Sleep,
  type LogReadParams,
  type LogReadResult,
} from '../shared/log/read-log.ts';
import { TileLines } from './tile-lines.ts';

export interface TileFeedParts {
  readonly id: string;
  readonly read: (params: LogReadParams) => Promise<LogReadResult>;
  readonly onChange: () => void;
  readonly sleep: Sleep;
  /** Resolves when the next read is allowed. */
  readonly turn: (signal: AbortSignal) => Promise<void>;
}

/** Until the tile knows its size. */
const fitsAtFirst = 12;
/** The first page of a tile must fill it, even if no more lines arrive. */
const linesAtFirst = 80;
const endOfLog = Number.MAX_SAFE_INTEGER;
const waitMs = 20_000;
const answerMs = 10_000;
/** Some events produce no text in a tile. */
const eventsMore = 8;
/** A tile that is further behind than this after an answer starts again at the end. */
const behindBytesMax = 64 * 1024;
const idlePauseMs = 1_000;
const retryPauseMs = 3_000;

export class TileFeed {
  readonly #parts: TileFeedParts;
  readonly #over = new AbortController();
  #awake = new AbortController();
  readonly #tail = new TileLines();
  #offset: number | null = null;
  #attempt = 0;
  /** Number of lines that a tile shows. */
  fits = fitsAtFirst;
  /** Approximate number of lines that this view has omitted. */
  skipped = 0;
  hasEnded = false;
  #isRunning = false;

  constructor(parts: TileFeedParts) {
    this.#parts = parts;
  }

  get lines(): readonly string[] {
    return this.#tail.lines;
  }

  stop(): void {
    this.#over.abort();
  }

  wake(): void {
    this.#awake.abort();
    this.#awake = new AbortController();
  }

  async run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.hasEnded = false;
    while (!this.#over.signal.aborted && !this.hasEnded) {
      try {
        if (this.#offset === null) await this.#begin();
        else await this.#poll(this.#offset);
      } catch {
        // The board reports a backend that stopped; the tile continues when it is back.
        await this.#parts.sleep(retryPauseMs, this.#over.signal);
      }
    }
    this.#isRunning = false;
  }

  async #begin(): Promise<void> {
    const page = await this.#ask({ before: endOfLog, limit: linesAtFirst });
    this.#attempt = page.attempt;
    this.#take(page.events, page);
    this.#offset = page.next_offset;
  }

  async #poll(offset: number): Promise<void> {
    const askedAt = performance.now();
    const limit = this.fits + eventsMore;
    const page = await this.#ask({ offset, limit, newest: true, wait_ms: waitMs });
    if (this.#over.signal.aborted) return;
    if (this.#attempt === 0) this.#attempt = page.attempt;
    if (page.size < offset) {
      // A crash removed lines that were not yet durably stored.
      this.#tail.clear();
      this.#offset = null;
      return;
    }
    if (page.events.length === 0 && page.next_offset === offset) {
      this.hasEnded = page.ended;
      const waited = performance.now() - askedAt;
      if (!page.ended && waited < idlePauseMs) {
        await this.#parts.sleep(idlePauseMs, this.#over.signal);
      }
      return;
    }
    const behindBytes = page.size - page.next_offset;
    if (behindBytes > behindBytesMax) {
      // An older backend with the same protocol does not know `newest`: it returns the next events,
      // which may be fewer than were written in the meantime.
      await this.#parts.turn(this.#over.signal);
      this.#skip(behindBytes, page);
      this.#offset = null;
      return;
    }
    this.#offset = page.next_offset;
    this.#skip(page.offset - offset, page);
    this.#take(page.events, page);
    await this.#parts.turn(this.#over.signal);
  }

  /** The number of omitted lines is estimated from the size of the received ones. */
  #skip(bytes: number, page: LogReadResult): void {
    if (bytes <= 0) return;
    const bytesOfLine = (page.next_offset - page.offset) / Math.max(1, page.events.length);
    this.skipped += Math.round(bytes / Math.max(1, bytesOfLine));
    this.#tail.clear();
  }

  #take(events: readonly LogLineView[], page: LogReadResult): void {
    this.#tail.add(events);
    if (events.length > 0 || page.ended) this.#parts.onChange();
  }

  #ask(where: Omit<LogReadParams, 'id' | 'attempt'>): Promise<LogReadResult> {
    const { id, read, sleep } = this.#parts;
    const attempt = this.#attempt > 0 ? { attempt: this.#attempt } : {};
    const answer = read({ id, ...attempt, ...where });
    return inTime(answer, waitMs + answerMs, sleep, this.#over.signal, this.#awake.signal);
  }
}
