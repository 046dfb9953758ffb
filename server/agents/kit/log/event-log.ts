// Writes the log of one attempt part: NDJSON of events with `at`, in frames, bounded on disk
// (layout: event-log-files.ts).

import { closeSync, constants, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AgentEvent } from '../../../protocol/agent-events.ts';
import { eventLine, outputBytesOf } from './event-line.ts';
import { logSize } from './event-log-reader.ts';
import { tellLogGrowth } from './log-growth.ts';
import {
  cutToMarks,
  encodeMarks,
  logLayout,
  marksPath,
  noMarks,
  readMarks,
  segmentPath,
  segmentsOf,
  type LogLayout,
  type LogMarks,
  type SegmentHeader,
} from './event-log-files.ts';

/** How far the agent's raw output has been taken into the log (bytes). */
export type SpoolMarks = Pick<LogMarks, 'stdout' | 'stderr'>;

export interface EventLog {
  /** Takes an event; it is on disk after the next frame. */
  append(event: AgentEvent): void;
  /**
   * Notes how far the raw output is consumed; stored with the same frame, so that nothing is read
   * twice or lost.
   */
  mark(marks: Partial<SpoolMarks>): void;
  readonly marks: SpoolMarks;
  /** Bytes that wait for the disk; a follower of a flood calls `flush` when this is large. */
  readonly pendingBytes: number;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface EventLogOptions {
  readonly maxBytes: number;
  readonly now?: () => number;
}

const frameMs = 16;

/** The file that is appended to: the head or the newest segment. */
interface CurrentFile {
  readonly handle: FileHandle;
  readonly bytesMax: number;
  readonly isHead: boolean;
  bytes: number;
}

interface PendingLine {
  readonly bytes: Buffer;
  readonly outputBytes: number;
}

/**
 * Opens or creates the log; what a dead writer left half stored is cut off and will be read from
 * the raw output again.
 */
export async function openEventLog(path: string, options: EventLogOptions): Promise<EventLog> {
  mkdirSync(dirname(path), { recursive: true });
  const layout = logLayout(options.maxBytes);
  const now = options.now ?? Date.now;
  const stored = readMarks(path) ?? { ...noMarks, log: logSize(path) };
  cutToMarks(path, stored);
  const writer = await createWriter(path, layout, stored);
  let timer: NodeJS.Timeout | null = null;
  let lines: PendingLine[] = [];
  let spool: SpoolMarks = { stdout: stored.stdout, stderr: stored.stderr };
  let pendingBytes = 0;
  let last: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const frame = lines;
    const marks = spool;
    lines = [];
    last = last.then(async () => {
      await writer.write(frame, marks);
      if (frame.length > 0) tellLogGrowth(path);
      for (const line of frame) pendingBytes -= line.bytes.length;
    });
    return last;
  };
  const wake = (): void => {
    // A failed write is told by the next flush, which waits for the same promise.
    timer ??= setTimeout(() => void flush().catch(() => undefined), frameMs);
  };

  return {
    append: (event) => {
      const bytes = eventLine({ at: now(), ...event }, layout.segmentBytes);
      lines.push({ bytes, outputBytes: outputBytesOf(event) });
      pendingBytes += bytes.length;
      wake();
    },
    mark: (marks) => {
      spool = { ...spool, ...marks };
      wake();
    },
    get marks() {
      return spool;
    },
    get pendingBytes() {
      return pendingBytes;
    },
    flush,
    close: async () => {
      await flush();
      await writer.close();
    },
  };
}

interface FrameWriter {
  write(lines: readonly PendingLine[], spool: SpoolMarks): Promise<void>;
  close(): Promise<void>;
}

async function createWriter(
  path: string,
  layout: LogLayout,
  stored: LogMarks,
): Promise<FrameWriter> {
  let marks = stored;
  let current = await openCurrent(path, layout, stored);
  const marksHandle = openSync(marksPath(path), constants.O_RDWR | constants.O_CREAT, 0o600);

  const startSegment = async (): Promise<void> => {
    await current.handle.close();
    if (current.isHead) marks = { ...marks, headOutput: marks.output };
    const { log: start, output, headOutput } = marks;
    const header: SegmentHeader = { segment: { start, output, headOutput } };
    const handle = await open(segmentPath(path, start), 'w', 0o600);
    await handle.appendFile(`${JSON.stringify(header)}\n`);
    current = { handle, bytesMax: layout.segmentBytes, isHead: false, bytes: 0 };
    for (const old of segmentsOf(path).slice(0, -2)) unlinkSync(old.path);
  };

  const append = async (batch: readonly PendingLine[]): Promise<void> => {
    if (batch.length === 0) return;
    const bytes = Buffer.concat(batch.map((line) => line.bytes));
    await current.handle.appendFile(bytes);
    const output = batch.reduce((sum, line) => sum + line.outputBytes, marks.output);
    marks = { ...marks, log: marks.log + bytes.length, output };
  };

  return {
    write: async (lines, spool) => {
      let batch: PendingLine[] = [];
      for (const line of lines) {
        if (current.bytes > 0 && current.bytes + line.bytes.length > current.bytesMax) {
          await append(batch);
          batch = [];
          await startSegment();
        }
        batch.push(line);
        current.bytes += line.bytes.length;
      }
      await append(batch);
      marks = { ...marks, ...spool };
      writeSync(marksHandle, encodeMarks(marks), 0, null, 0);
    },
    close: async () => {
      closeSync(marksHandle);
      await current.handle.close();
    },
  };
}

async function openCurrent(
  path: string,
  layout: LogLayout,
  stored: LogMarks,
): Promise<CurrentFile> {
  const segment = segmentsOf(path).at(-1);
  if (segment === undefined) {
    const handle = await open(path, 'a', 0o600);
    return { handle, bytesMax: layout.headBytes, isHead: true, bytes: stored.log };
  }
  const handle = await open(segment.path, 'a', 0o600);
  const bytes = stored.log - segment.start;
  return { handle, bytesMax: layout.segmentBytes, isHead: false, bytes };
}
