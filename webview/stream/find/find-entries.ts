// Search in the loaded entries: which of them contain the text, and which is next. The rest of the
// log is searched page by page with the same test for a line.

import type { LogLineView } from '../../../server/protocol/log-line.ts';
import { entryText } from '../../shared/log/entry-text.ts';
import { Transcript, type Entry } from '../../shared/log/transcript.ts';

export interface FindQuery {
  readonly text: string;
  readonly matchesCase: boolean;
}

export const findHitsMax = 10_000;

export function contains(text: string, query: FindQuery): boolean {
  if (query.text === '') return false;
  return query.matchesCase
    ? text.includes(query.text)
    : text.toLowerCase().includes(query.text.toLowerCase());
}

/** Keys of the entries that contain the query, in order. */
export function findEntries(entries: readonly Entry[], query: FindQuery): number[] {
  const keys: number[] = [];
  if (query.text === '') return keys;
  for (const entry of entries) {
    if (keys.length >= findHitsMax) break;
    if (contains(entryText(entry), query)) keys.push(entry.key);
  }
  return keys;
}

/** The next match from a key on; null at the end of the loaded entries. */
export function nextHit(
  hits: readonly number[],
  from: number | null,
  direction: 'older' | 'newer',
): number | null {
  if (from === null) return (direction === 'older' ? hits.at(-1) : hits[0]) ?? null;
  if (direction === 'older') return hits.findLast((key) => key < from) ?? null;
  return hits.find((key) => key > from) ?? null;
}

/**
 * Whether a page that is not loaded has a match; the index of the first or last matching event in
 * the page.
 */
export function hitInPage(
  events: readonly LogLineView[],
  query: FindQuery,
  direction: 'older' | 'newer',
): number | null {
  // Results of calls in other pages are separate entries here, so no match is missed.
  const page = new Transcript(0);
  page.append(events, true);
  return nextHit(findEntries(page.entries, query), null, direction);
}

/** `3 of 12`; the position is null while the current entry is not a match. */
export function hitPosition(hits: readonly number[], current: number | null): number | null {
  const index = current === null ? -1 : hits.indexOf(current);
  return index === -1 ? null : index + 1;
}
