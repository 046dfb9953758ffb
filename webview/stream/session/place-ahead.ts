// A position in the log that a stream goes to once it is loaded: the panel's position before it was
// hidden or reloaded, or a result of a search in transcripts.

import type { LogFeed } from '../../shared/log/log-feed.ts';
import type { Entry } from '../../shared/log/transcript.ts';

export interface PlaceAhead {
  readonly offset: number;
  readonly index: number;
  readonly px: number;
  /** The search terms, or null. */
  readonly words: string | null;
}

/** The key of the entry at the position. Returns null if the log no longer contains it. */
export function entryAt(
  feed: LogFeed,
  entries: readonly Entry[],
  place: PlaceAhead,
): number | null {
  const key = feed.window.keyAt(place);
  return key === null ? null : (entries.findLast((entry) => entry.key <= key)?.key ?? null);
}

/** The search field of a stream searches for one text. */
export function longestWord(words: string): string {
  return words.split(/\s+/u).reduce((most, word) => (word.length > most.length ? word : most), '');
}
