// Reads an attempt part's log by offset: for `drover log`, its --follow, and the panels.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { LoggedEvent } from './event-line.ts';
import { fileSize, segmentsOf, type SegmentHeader } from './event-log-files.ts';

export type { LoggedEvent } from './event-line.ts';

export interface LogPage {
  readonly events: readonly LoggedEvent[];
  /** Give this as `fromOffset` of the next call. */
  readonly nextOffset: number;
  /** True when everything stored so far has been read. */
  readonly atEnd: boolean;
}

export interface ReadLogOptions {
  readonly fromOffset: number;
  /** Most events of one page. */
  readonly limit: number;
}

interface Part {
  readonly path: string;
  /** Logical offset of the first byte of events. */
  readonly start: number;
  /** Bytes of the file before that (a segment's header). */
  readonly headerBytes: number;
  readonly size: number;
  readonly header: SegmentHeader['segment'] | null;
}

const chunkBytes = 256 * 1024;
/** A page never holds more than this, however large its events are. */
const pageBytesMax = 16 * 1024 * 1024;
const newline = 0x0a;

/** Events from an offset on. Where the middle was dropped, a note stands for it. An absent log is an empty one. */
export function readLog(path: string, options: ReadLogOptions): LogPage {
  const events: LoggedEvent[] = [];
  let offset = Math.max(0, options.fromOffset);
  const parts = partsOf(path);
  for (const part of parts) {
    const end = part.start + part.size;
    if (offset >= end) continue;
    const gap = offset < part.start ? part.header : null;
    const gapAt = events.length;
    offset = readPart(part, Math.max(offset, part.start), options.limit, events);
    if (gap !== null) events.splice(gapAt, 0, gapNote(gap, events[gapAt]?.at ?? 0));
    if (events.length >= options.limit || offset < end) break;
  }
  const last = parts.at(-1);
  const atEnd = last === undefined || offset >= last.start + last.size;
  return { events, nextOffset: offset, atEnd };
}

/** Logical size: the offset at which the next event will be stored. */
export function logSize(path: string): number {
  const last = partsOf(path).at(-1);
  return last === undefined ? 0 : last.start + last.size;
}

/** The last events of a log, for a view that opens at the end. */
export function readLogTail(path: string, limit: number): LogPage {
  const size = logSize(path);
  let page: LogPage = { events: [], nextOffset: size, atEnd: true };
  for (let window = 64 * 1024; ; window *= 4) {
    const from = alignedOffset(path, Math.max(0, size - window));
    page = readLog(path, { fromOffset: from, limit: Number.MAX_SAFE_INTEGER });
    if (page.events.length >= limit || from === 0 || window >= pageBytesMax) break;
  }
  return { ...page, events: page.events.slice(-limit) };
}

/** The first beginning of a line at or after a logical offset. */
function alignedOffset(path: string, offset: number): number {
  for (const part of partsOf(path)) {
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

function partsOf(path: string): Part[] {
  const segments = segmentsOf(path);
  const parts: Part[] = [{ path, start: 0, headerBytes: 0, size: fileSize(path), header: null }];
  for (const segment of segments) {
    const part = segmentPart(segment.path, segment.start);
    if (part !== null) parts.push(part);
  }
  return parts.filter((part) => part.size > 0);
}

function segmentPart(path: string, start: number): Part | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return null; // dropped since the listing
  }
  try {
    const head = readAt(file, 0, 4096);
    const headerEnd = head.indexOf(newline);
    if (headerEnd < 0) return null;
    const header = JSON.parse(head.toString('utf8', 0, headerEnd)) as SegmentHeader;
    const headerBytes = headerEnd + 1;
    const size = fstatSync(file).size - headerBytes;
    return { path, start, headerBytes, size, header: header.segment };
  } finally {
    closeSync(file);
  }
}

/** Reads complete lines of one file into `events`; returns the logical offset behind the last one. */
function readPart(part: Part, from: number, limit: number, events: LoggedEvent[]): number {
  let file: number;
  try {
    file = openSync(part.path, 'r');
  } catch {
    return part.start + part.size; // dropped since the listing: the next part says what is missing
  }
  try {
    let offset = from;
    let rest = Buffer.alloc(0);
    let readBytes = 0;
    // Past the page's bound only a line that is longer than a whole page is still completed.
    while (events.length < limit && (readBytes < pageBytesMax || offset === from)) {
      const at = part.headerBytes + (offset - part.start) + rest.length;
      const chunk = readAt(file, at, chunkBytes);
      if (chunk.length === 0) return offset;
      readBytes += chunk.length;
      const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let lineStart = 0;
      for (;;) {
        const lineEnd = data.indexOf(newline, lineStart);
        if (lineEnd < 0 || events.length >= limit) break;
        const event = parseLine(data.toString('utf8', lineStart, lineEnd));
        if (event !== null) events.push(event);
        offset += lineEnd + 1 - lineStart;
        lineStart = lineEnd + 1;
      }
      rest = data.subarray(lineStart);
    }
    return offset;
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, position: number, length: number): Buffer<ArrayBuffer> {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, position));
}

function parseLine(line: string): LoggedEvent | null {
  try {
    const value: unknown = JSON.parse(line);
    const isEvent = typeof value === 'object' && value !== null && 'type' in value;
    return isEvent ? (value as LoggedEvent) : null;
  } catch {
    return null; // a foreign hand wrote into the file; the rest is still worth showing
  }
}

function gapNote(header: SegmentHeader['segment'], at: number): LoggedEvent {
  const bytes = header.output - header.headOutput;
  return {
    at,
    type: 'note',
    level: 'warning',
    text: `${bytes} bytes of output are not kept here: the log reached its limit, so its middle is left out.`,
  };
}

/** How many bytes of output were dropped from the middle so far. */
export function droppedBytes(path: string): number {
  const header = partsOf(path).find((part) => part.header !== null)?.header ?? null;
  return header === null ? 0 : header.output - header.headOutput;
}
