// The files of a log as one sequence of bytes, each with the logical offset at which its events
// start.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { fileSize, listSegments, type SegmentHeader } from './event-log-files.ts';

const newline = 0x0a;

export interface LogPart {
  readonly path: string;
  /** Logical offset of the first byte of events. */
  readonly start: number;
  /** Bytes of the file before that (a segment's header). */
  readonly headerBytes: number;
  readonly size: number;
  readonly header: SegmentHeader['segment'] | null;
}

export function listLogParts(path: string): LogPart[] {
  const segments = listSegments(path);
  const parts: LogPart[] = [{ path, start: 0, headerBytes: 0, size: fileSize(path), header: null }];
  for (const segment of segments) {
    const part = segmentPart(segment.path, segment.start);
    if (part !== null) parts.push(part);
  }
  return parts.filter((part) => part.size > 0);
}

function segmentPart(path: string, start: number): LogPart | null {
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

export function readAt(file: number, position: number, length: number): Buffer<ArrayBuffer> {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, position));
}

/** Logical size: the offset of the next stored event. */
export function sumSizes(parts: readonly LogPart[]): number {
  const last = parts.at(-1);
  return last === undefined ? 0 : last.start + last.size;
}
