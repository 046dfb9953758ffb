// The loaded part of a log: consecutive pages, bounded in events and bytes. Pages are dropped at
// the side that is further from the visible part, and read again when needed.

import type { LogLineView } from '../../../server/protocol/log-line.ts';
import { Transcript } from './transcript.ts';

export const windowEventsMax = 20_000;
export const windowBytesMax = 48 * 1024 * 1024;
/** The share that remains after dropping, chosen so that dropping is rare. */
const keptShare = 0.8;
const pageEventsMax = 500;

export interface LogPage {
  /** Byte offsets of the log: the events are in [start, end). */
  readonly start: number;
  readonly end: number;
  readonly events: readonly LogLineView[];
}

interface LoadedPage {
  readonly start: number;
  end: number;
  readonly events: LogLineView[];
}

export type WindowSide = 'front' | 'back';

export class LogWindow {
  #pages: LoadedPage[] = [];
  #transcript: Transcript;
  #firstKey: number;
  #eventCount = 0;
  /** Increases when entries were removed or recreated, not when entries were appended. */
  epoch = 0;

  constructor(firstKey = 0) {
    this.#firstKey = firstKey;
    this.#transcript = new Transcript(firstKey);
  }

  get transcript(): Transcript {
    return this.#transcript;
  }

  get start(): number {
    return this.#pages[0]?.start ?? 0;
  }

  get end(): number {
    return this.#pages.at(-1)?.end ?? 0;
  }

  get eventCount(): number {
    return this.#eventCount;
  }

  get isEmpty(): boolean {
    return this.#pages.length === 0;
  }

  /**
   * Discards everything and starts with a page elsewhere in the log. Keys continue, so that no row
   * is mistaken for another.
   */
  reset(page: LogPage): void {
    this.#firstKey = this.#transcript.nextKey;
    this.#pages = [{ ...page, events: [...page.events] }];
    this.#rebuild();
  }

  /** Adds a page that starts at the end of the window; returns false if it does not. */
  append(page: LogPage): boolean {
    if (!this.isEmpty && page.start !== this.end) return false;
    const last = this.#pages.at(-1);
    const joins = last !== undefined && last.events.length < pageEventsMax;
    if (joins) {
      last.events.push(...page.events);
      last.end = page.end;
    } else {
      this.#pages.push({ ...page, events: [...page.events] });
    }
    this.#eventCount += page.events.length;
    this.#transcript.append(page.events, !joins);
    return true;
  }

  /** Adds a page that ends at the start of the window; returns false if it does not. */
  prepend(page: LogPage): boolean {
    if (page.end !== this.start) return false;
    this.#firstKey -= page.events.length;
    this.#pages.unshift({ ...page, events: [...page.events] });
    this.#rebuild();
    return true;
  }

  /**
   * Drops pages at one side when there are too many; the others keep their keys. Returns true if
   * pages were dropped.
   */
  trim(side: WindowSide): boolean {
    if (this.#eventCount <= windowEventsMax && this.end - this.start <= windowBytesMax)
      return false;
    let dropped = false;
    while (
      this.#pages.length > 1 &&
      (this.#eventCount > windowEventsMax * keptShare ||
        this.end - this.start > windowBytesMax * keptShare)
    ) {
      const page = side === 'front' ? this.#pages.shift() : this.#pages.pop();
      if (page === undefined) break;
      this.#eventCount -= page.events.length;
      if (side === 'front') this.#firstKey += page.events.length;
      dropped = true;
    }
    if (dropped && side === 'front') {
      // Nothing is read again, because this happens all the time while a stream is followed.
      this.#transcript.dropBefore(this.#firstKey);
      this.epoch += 1;
    } else if (dropped) this.#rebuild();
    return dropped;
  }

  /**
   * The position of an entry's first event in the log: its page's offset and its number in the
   * page.
   */
  placeOf(key: number): { readonly offset: number; readonly index: number } | null {
    let first = this.#firstKey;
    for (const page of this.#pages) {
      if (key < first + page.events.length) {
        return key < first ? null : { offset: page.start, index: key - first };
      }
      first += page.events.length;
    }
    return null;
  }

  /** The key of the event at a position; null if it is not loaded. */
  keyAt(place: { readonly offset: number; readonly index: number }): number | null {
    let first = this.#firstKey;
    for (const page of this.#pages) {
      if (page.start === place.offset) return first + Math.min(place.index, page.events.length - 1);
      first += page.events.length;
    }
    return null;
  }

  #rebuild(): void {
    const transcript = new Transcript(this.#firstKey);
    transcript.usage = this.#transcript.usage;
    this.#eventCount = 0;
    for (const page of this.#pages) {
      transcript.append(page.events, true);
      this.#eventCount += page.events.length;
    }
    this.#transcript = transcript;
    this.epoch += 1;
  }
}
