// The files of a part's log: head, tail segments, and the marks up to which everything is stored.
//
// Offsets are logical: they count every byte ever appended. The log file itself keeps the head.
// When it is full, later output goes to segments beside it, which are named by their start offset;
// the latest two are kept. So head and tail are kept, the middle is dropped, and offsets stay
// valid.

import { readdirSync, readFileSync, statSync, truncateSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * How much of a log and of the raw output behind it is stored. Written after each frame, and
 * authoritative after a crash.
 */
export interface LogMarks {
  /** Logical size of the log. */
  readonly log: number;
  /** Bytes of output in all events so far, and in those of the head. */
  readonly output: number;
  readonly headOutput: number;
  /** Bytes of the agent's raw output files that were copied to the log. */
  readonly stdout: number;
  readonly stderr: number;
}

export const noMarks: LogMarks = { log: 0, output: 0, headOutput: 0, stdout: 0, stderr: 0 };

export interface LogLayout {
  readonly headBytes: number;
  readonly segmentBytes: number;
}

/** The head and two segments together stay below the limit. */
export function logLayout(maxBytes: number): LogLayout {
  return {
    headBytes: Math.max(1024, Math.floor(maxBytes / 2)),
    segmentBytes: Math.max(512, Math.floor(maxBytes / 4)),
  };
}

export interface Segment {
  readonly path: string;
  readonly start: number;
}

/** First line of each segment: the message for a reader that finds a gap before it. */
export interface SegmentHeader {
  readonly segment: {
    readonly start: number;
    readonly output: number;
    readonly headOutput: number;
  };
}

export function segmentPath(path: string, start: number): string {
  return `${path}.${String(start).padStart(16, '0')}`;
}

/** The existing segments, oldest first. */
export function listSegments(path: string): Segment[] {
  const prefix = `${basename(path)}.`;
  let names: string[];
  try {
    names = readdirSync(dirname(path));
  } catch {
    return [];
  }
  return names
    .filter((name) => name.startsWith(prefix) && /^\d{16}$/.test(name.slice(prefix.length)))
    .sort()
    .map((name) => ({
      path: join(dirname(path), name),
      start: Number(name.slice(prefix.length)),
    }));
}

export function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

export function marksPath(path: string): string {
  return `${path}.marks`;
}

/**
 * Written at once with a fixed size and position, so that a reader or a crash sees the old or the
 * new marks, never a mixture.
 */
export function encodeMarks(marks: LogMarks): Buffer {
  return Buffer.from(`${JSON.stringify(marks).padEnd(159)}\n`);
}

export function readMarks(path: string): LogMarks | null {
  try {
    const stored: unknown = JSON.parse(readFileSync(marksPath(path), 'utf8'));
    return { ...noMarks, ...(stored as Partial<LogMarks>) };
  } catch {
    return null;
  }
}

/**
 * Truncates lines that a dead writer appended after its last marks. The raw output still has them,
 * or they were incomplete.
 */
export function cutToMarks(path: string, marks: LogMarks): void {
  for (const segment of listSegments(path)) {
    if (segment.start >= marks.log) {
      unlinkSync(segment.path);
      continue;
    }
    const dataStart = readFileSync(segment.path).indexOf(0x0a) + 1;
    const size = dataStart + (marks.log - segment.start);
    if (fileSize(segment.path) > size) truncateSync(segment.path, size);
  }
  if (fileSize(path) > marks.log) truncateSync(path, marks.log);
}
