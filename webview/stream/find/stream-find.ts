// The search of a stream: first in the loaded entries, then page by page through the rest of the
// log.

import {
  findEntries,
  findHitsMax,
  hitInPage,
  hitPosition,
  nextHit,
  type FindQuery,
} from './find-entries.ts';
import type { LogFeed } from '../../shared/log/log-feed.ts';
import type { Entry } from '../../shared/log/transcript.ts';

/** The rest of the log is searched once the user has stopped typing for this long. */
const typingMs = 300;

export interface FindParts {
  readonly feed: () => LogFeed | null;
  readonly entries: () => readonly Entry[];
  /** A match to show. */
  readonly onHit: (key: number) => void;
  readonly onChange: () => void;
}

export class StreamFind {
  readonly #parts: FindParts;
  query: FindQuery | null = null;
  current: number | null = null;
  #hits: readonly number[] = [];
  #looked: {
    readonly epoch: number;
    readonly eventCount: number;
    readonly entryCount: number;
  } | null = null;
  #isSearching = false;
  #edge: 'older' | 'newer' | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(parts: FindParts) {
    this.#parts = parts;
  }

  open(query: FindQuery): void {
    this.query = query;
    this.current = null;
    this.#looked = null;
    this.#edge = null;
    this.#parts.onChange();
  }

  /** A search elsewhere found this entry. */
  openAt(query: FindQuery, key: number): void {
    this.open(query);
    this.#show(key);
  }

  /**
   * While the user types, searches the loaded entries at once, and the rest of the log after a
   * pause.
   */
  typed(query: FindQuery): void {
    this.open(query);
    this.#look();
    if (this.#timer !== null) clearTimeout(this.#timer);
    const rest = (): void => {
      this.#timer = null;
      if (this.query === query && this.current === null) void this.step('older');
    };
    this.#timer = this.#hits.length > 0 ? null : setTimeout(rest, typingMs);
    if (this.#hits.length > 0) void this.step('older');
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.query = null;
    this.current = null;
    this.#hits = [];
  }

  get result(): string {
    if (this.query === null || this.query.text === '') return '';
    if (this.#isSearching) return 'Searching…';
    this.#look();
    if (this.#hits.length === 0) return 'No results here';
    const position = hitPosition(this.#hits, this.current);
    const all = this.#hits.length >= findHitsMax ? `${findHitsMax}+` : String(this.#hits.length);
    const rest = this.#parts.feed()?.hasOlder === true ? '+' : '';
    const edge = this.#edge === null ? '' : this.#edge === 'older' ? ' (first)' : ' (last)';
    return position === null ? `${all}${rest} found` : `${position} of ${all}${rest}${edge}`;
  }

  /** Goes to the next match in a direction; beyond the loaded entries, through the log. */
  async step(direction: 'older' | 'newer', from: number | null = this.current): Promise<void> {
    const { query } = this;
    if (query === null || query.text === '' || this.#isSearching) return;
    this.#look();
    this.#edge = null;
    const hit = nextHit(this.#hits, from, direction);
    if (hit !== null) return this.#show(hit);
    this.#isSearching = true;
    this.#parts.onChange();
    try {
      const found = await this.#searchLog(query, direction);
      if (!found) this.#edge = direction;
    } catch {
      // The feed itself reports that the log cannot be read.
    } finally {
      this.#isSearching = false;
      this.#parts.onChange();
    }
    // Another query was entered in the meantime, so the old search ends at its next page.
    if (this.query !== null && this.query !== query) this.typed(this.query);
  }

  #show(key: number): void {
    this.current = key;
    this.#parts.onHit(key);
    this.#parts.onChange();
  }

  async #searchLog(query: FindQuery, direction: 'older' | 'newer'): Promise<boolean> {
    const feed = this.#parts.feed();
    if (feed === null || (direction === 'older' ? !feed.hasOlder : feed.isAtEnd)) return false;
    let at = direction === 'older' ? feed.window.start : feed.window.end;
    for (;;) {
      const page = await feed.peek(direction === 'older' ? { before: at } : { offset: at });
      if (this.query !== query || this.#parts.feed() !== feed) return true;
      if (page.events.length === 0) return false;
      if (hitInPage(page.events, query, direction) !== null) {
        feed.showPage(page);
        this.#looked = null;
        this.#look();
        const key = nextHit(this.#hits, null, direction);
        if (key !== null) this.#show(key);
        return true;
      }
      const next = direction === 'older' ? page.start : page.end;
      if (next === at || next === 0) return false;
      at = next;
    }
  }

  /**
   * Searches the loaded entries: all of them if they differ from last time, otherwise the new ones.
   */
  #look(): void {
    const { query } = this;
    const feed = this.#parts.feed();
    if (query === null || feed === null) return;
    const entries = this.#parts.entries();
    const { epoch } = feed.window;
    const isSame = this.#looked !== null && this.#looked.epoch === epoch;
    if (isSame && this.#looked?.eventCount === feed.window.eventCount) return;
    // The last searched entry may have grown.
    const from = isSame ? Math.max(0, (this.#looked?.entryCount ?? 0) - 1) : 0;
    const firstKey = entries[from]?.key ?? Number.NEGATIVE_INFINITY;
    const kept = isSame ? this.#hits.filter((key) => key < firstKey) : [];
    const found = findEntries(entries.slice(from), query);
    this.#hits = [...kept, ...found].slice(0, findHitsMax);
    this.#looked = { epoch, eventCount: feed.window.eventCount, entryCount: entries.length };
    if (this.current !== null && !this.#hits.includes(this.current)) this.current = null;
  }
}
