// Reads a part's log by offset, forwards and backwards, for `drover log`, its --follow and the
// panels.

import { closeSync, fstatSync, openSync } from 'node:fs';
import type { LoggedEvent } from '../../../protocol/agent-events.ts';
import type { SegmentHeader } from './event-log-files.ts';
import { type LogPart, listLogParts, readAt, sumSizes } from './event-log-parts.ts';

export interface LogPage {
  readonly events: readonly LoggedEvent[];
  /** The offset of the first event; for an empty page, the requested offset. */
  readonly offset: number;
  /** Pass this as `fromOffset` of the next call. */
  readonly nextOffset: number;
  /** Logical size of the log when it was read. */
  readonly size: number;
  /** True if everything stored so far has been read. */
  readonly atEnd: boolean;
}

export interface ReadLogOptions {
  readonly fromOffset: number;
  /** Maximum number of events per page. */
  readonly limit: number;
  /** A page ends after about this many bytes, even with fewer events. */
  readonly bytesMax?: number;
}

interface Entry {
  readonly event: LoggedEvent;
  readonly start: number;
}

interface Reading {
  readonly entries: Entry[];
  readonly limit: number;
  readonly bytesMax: number;
  /** Lines that end after this offset are omitted. */
  readonly until: number;
}

const chunkBytes = 256 * 1024;
const pageEvents = 1_000;
/** The absolute limit of a page, however large its events are. */
const pageBytesMax = 16 * 1024 * 1024;
/** How far back the search for a page that ends at an offset starts. */
const firstWindowBytes = 64 * 1024;
const newline = 0x0a;

/**
 * Events from an offset on. If the middle was dropped, a note replaces it. A missing log counts as
 * empty.
 */
export function readLog(path: string, options: ReadLogOptions): LogPage {
  const { fromOffset, limit, bytesMax = pageBytesMax } = options;
  const until = Number.MAX_SAFE_INTEGER;
  return readForwards(listLogParts(path), Math.max(0, fromOffset), { limit, bytesMax, until });
}

/** All stored events, read page by page, so that a large log is never completely in memory. */
export function* eventsOfLog(path: string): Generator<LoggedEvent> {
  for (let offset = 0; ;) {
    const page = readLog(path, { fromOffset: offset, limit: pageEvents });
    yield* page.events;
    offset = page.nextOffset;
    if (page.atEnd || page.events.length === 0) return;
  }
}

function readForwards(
  parts: readonly LogPart[],
  from: number,
  bounds: Omit<Reading, 'entries'>,
): LogPage {
  const { entries, nextOffset } = readEntries(parts, from, bounds);
  const size = Math.max(sumSizes(parts), nextOffset);
  return pageOf(entries, { emptyAt: from, nextOffset, size });
}

function pageOf(
  entries: readonly Entry[],
  { emptyAt, nextOffset, size }: Pick<LogPage, 'nextOffset' | 'size'> & { emptyAt: number },
): LogPage {
  return {
    events: entries.map((entry) => entry.event),
    offset: entries[0]?.start ?? emptyAt,
    nextOffset,
    size,
    atEnd: nextOffset >= size,
  };
}

function readEntries(
  parts: readonly LogPart[],
  from: number,
  bounds: Omit<Reading, 'entries'>,
): { readonly entries: Entry[]; readonly nextOffset: number } {
  const entries: Entry[] = [];
  let offset = from;
  for (const part of parts) {
    const end = part.start + part.size;
    if (offset >= end) continue;
    if (part.start > bounds.until) break;
    const gap = offset < part.start ? part.header : null;
    const gapAt = { start: offset, index: entries.length };
    offset = readPart(part, Math.max(offset, part.start), { ...bounds, entries });
    if (gap !== null) {
      const neighbour = entries[gapAt.index] ?? entries.at(-1);
      const event = gapNote(gap, neighbour?.event.at ?? 0);
      entries.splice(gapAt.index, 0, { event, start: gapAt.start });
    }
    if (entries.length >= bounds.limit || offset < end) break;
  }
  return { entries, nextOffset: offset };
}

/** Logical size: the offset of the next stored event. */
export function logSize(path: string): number {
  return sumSizes(listLogParts(path));
}

/**
 * The last events that end at or before an offset, for a view that starts at the end and scrolls
 * back.
 */
export function readLogBefore(
  path: string,
  options: { readonly before: number; readonly limit: number; readonly bytesMax?: number },
): LogPage {
  const { limit, bytesMax = pageBytesMax } = options;
  const parts = listLogParts(path);
  const size = sumSizes(parts);
  const until = Math.min(options.before, size);
  const unbounded = { limit: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER, until };
  for (let window = Math.min(firstWindowBytes, bytesMax); ; window = wider(window, bytesMax)) {
    const from = alignedOffset(parts, Math.max(0, until - window));
    const { entries, nextOffset } = readEntries(parts, Math.min(from, until), unbounded);
    // After the page's limit, only a line that is longer than a whole page is still completed.
    const isEnough = entries.length >= limit || (window >= bytesMax && entries.length > 0);
    if (!isEnough && from > 0) continue;
    return pageOf(entries.slice(-limit), { emptyAt: until, nextOffset, size });
  }
}

function wider(window: number, bytesMax: number): number {
  return window < bytesMax ? Math.min(window * 4, bytesMax) : window * 4;
}

/** The last events of a log. */
export function readLogTail(path: string, limit: number): LogPage {
  return readLogBefore(path, { before: Number.MAX_SAFE_INTEGER, limit });
}

/** The first start of a line at or after a logical offset. */
function alignedOffset(parts: readonly LogPart[], offset: number): number {
  for (const part of parts) {
    if (offset <= part.start) return offset === 0 ? 0 : part.start;
    if (offset >= part.start + part.size) continue;
    const file = openSync(part.path, 'r');
    try {
      let at = part.headerBytes + (offset - part.start) - 1;
      for (;;) {
        const chunk = readAt(file, at, chunkBytes);
        const found = chunk.indexOf(newline);
        if (found >= 0) return part.start + (at + found + 1 - part.headerBytes);
        if (chunk.length === 0) break;
        at += chunk.length;
      }
    } finally {
      closeSync(file);
    }
  }
  return offset;
}

/**
 * Reads complete lines of one file into `entries`. Returns the logical offset after the last one.
 */
function readPart(part: LogPart, from: number, reading: Reading): number {
  const { entries, limit, bytesMax, until } = reading;
  let file: number;
  try {
    file = openSync(part.path, 'r');
  } catch {
    return part.start + part.size; // dropped since the listing: the next part reports the gap
  }
  try {
    let offset = from;
    let rest = Buffer.alloc(0);
    let readBytes = 0;
    // After the page's limit, only a line that is longer than a whole page is still completed.
    while (entries.length < limit && (readBytes < bytesMax || offset === from)) {
      const at = part.headerBytes + (offset - part.start) + rest.length;
      // Most logs are far smaller than a chunk, so allocating whole chunks would burden the garbage
      // collector.
      const chunk = readAt(file, at, Math.max(0, Math.min(chunkBytes, fstatSync(file).size - at)));
      if (chunk.length === 0) return offset;
      readBytes += chunk.length;
      const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let lineStart = 0;
      for (;;) {
        const lineEnd = data.indexOf(newline, lineStart);
        if (lineEnd < 0 || entries.length >= limit) break;
        const next = offset + lineEnd + 1 - lineStart;
        if (next > until) return offset;
        const event = parseLine(data.toString('utf8', lineStart, lineEnd));
        if (event !== null) entries.push({ event, start: offset });
        offset = next;
        lineStart = lineEnd + 1;
      }
      rest = data.subarray(lineStart);
    }
    return offset;
  } finally {
    closeSync(file);
  }
}

function parseLine(line: string): LoggedEvent | null {
  try {
    const value: unknown = JSON.parse(line);
    const isEvent = typeof value === 'object' && value !== null && 'type' in value;
    return isEvent ? (value as LoggedEvent) : null;
  } catch {
    return null; // another program wrote into the file; the rest is still worth showing
  }
}

function gapNote(header: SegmentHeader['segment'], at: number): LoggedEvent {
  const bytes = header.output - header.headOutput;
  return {
    at,
    type: 'note',
    level: 'warning',
    text: `${bytes} bytes of output are missing here: the log reached its limit, so its middle was dropped.`,
  };
}
