// Writes the log of one part: NDJSON of events with `at`, in frames, with a limited size on disk
// (layout: event-log-files.ts).

import {
  appendFile,
  appendFileSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { AgentEvent } from '../../../protocol/agent-events.ts';
import { eventLine, countOutputBytes } from './event-line.ts';
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
  listSegments,
  type LogLayout,
  type LogMarks,
  type SegmentHeader,
} from './event-log-files.ts';

/** How much of the agent's raw output was copied to the log (bytes). */
export type SpoolMarks = Pick<LogMarks, 'stdout' | 'stderr'>;

export interface EventLogOptions {
  readonly maxBytes: number;
  readonly now?: () => number;
}

const frameMs = 16;
/** Larger writes take long enough to be done by another thread. */
const bytesHereMax = 64 * 1024;
const appended = promisify(appendFile);

/** The file that is appended to: the head or the latest segment. */
interface CurrentFile {
  readonly file: number;
  readonly bytesMax: number;
  readonly isHead: boolean;
  bytes: number;
}

interface PendingLine {
  readonly bytes: Buffer;
  readonly outputBytes: number;
}

/**
 * Opens or creates the log. A half-written line of a dead writer is truncated and read from the raw
 * output again.
 */
export function openEventLog(path: string, options: EventLogOptions): EventLog {
  mkdirSync(dirname(path), { recursive: true });
  const layout = logLayout(options.maxBytes);
  const stored = readMarks(path) ?? { ...noMarks, log: logSize(path) };
  cutToMarks(path, stored);
  const current = openCurrent(path, layout, stored);
  const writer = new FrameWriter({ path, layout, stored, current });
  return new EventLog({ path, layout, stored, writer, now: options.now ?? Date.now });
}

interface OpenedLog {
  readonly path: string;
  readonly layout: LogLayout;
  readonly stored: LogMarks;
  readonly writer: FrameWriter;
  readonly now: () => number;
}

export class EventLog {
  readonly #opened: OpenedLog;
  #timer: NodeJS.Timeout | null = null;
  #lines: PendingLine[] = [];
  #marks: SpoolMarks;
  #pendingBytes = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(opened: OpenedLog) {
    this.#opened = opened;
    const { stdout, stderr } = opened.stored;
    this.#marks = { stdout, stderr };
  }

  get marks(): SpoolMarks {
    return this.#marks;
  }

  /** Bytes that are not written yet. A follower of much output calls `flush` when this is large. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Adds an event, which is on disk after the next frame. */
  append(event: AgentEvent): void {
    const { now, layout } = this.#opened;
    const bytes = eventLine({ at: now(), ...event }, layout.segmentBytes);
    this.#lines.push({ bytes, outputBytes: countOutputBytes(event) });
    this.#pendingBytes += bytes.length;
    this.#wake();
  }

  /**
   * Records how much raw output was consumed. Stored with the same frame, so that no output is read
   * twice or lost.
   */
  mark(marks: Partial<SpoolMarks>): void {
    this.#marks = { ...this.#marks, ...marks };
    this.#wake();
  }

  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const frame = this.#lines;
    const marks = this.#marks;
    this.#lines = [];
    const { writer, path } = this.#opened;
    this.#last = this.#last.then(async () => {
      await writer.write(frame, marks);
      if (frame.length > 0) tellLogGrowth(path);
      for (const line of frame) this.#pendingBytes -= line.bytes.length;
    });
    return this.#last;
  }

  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      this.#opened.writer.close();
    }
  }

  #wake(): void {
    // The next flush, which waits for the same promise, reports a failed write.
    this.#timer ??= setTimeout(() => void this.flush().catch(() => undefined), frameMs);
  }
}

interface FrameTarget {
  readonly path: string;
  readonly layout: LogLayout;
  readonly stored: LogMarks;
  readonly current: CurrentFile;
}

/** Writes one frame at a time: its lines, then the marks that make them valid. */
class FrameWriter {
  readonly #path: string;
  readonly #layout: LogLayout;
  readonly #marksFile: number;
  #marks: LogMarks;
  #current: CurrentFile;

  constructor({ path, layout, stored, current }: FrameTarget) {
    this.#path = path;
    this.#layout = layout;
    this.#marks = stored;
    this.#current = current;
    this.#marksFile = openSync(marksPath(path), constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  async write(lines: readonly PendingLine[], spool: SpoolMarks): Promise<void> {
    let batch: PendingLine[] = [];
    for (const line of lines) {
      const { bytes, bytesMax } = this.#current;
      if (bytes > 0 && bytes + line.bytes.length > bytesMax) {
        await this.#append(batch);
        batch = [];
        this.#startSegment();
      }
      batch.push(line);
      this.#current.bytes += line.bytes.length;
    }
    await this.#append(batch);
    this.#marks = { ...this.#marks, ...spool };
    writeSync(this.#marksFile, encodeMarks(this.#marks), 0, null, 0);
  }

  close(): void {
    closeSync(this.#marksFile);
    closeSync(this.#current.file);
  }

  async #append(batch: readonly PendingLine[]): Promise<void> {
    if (batch.length === 0) return;
    const bytes = Buffer.concat(batch.map((line) => line.bytes));
    const { file } = this.#current;
    if (bytes.length <= bytesHereMax) appendFileSync(file, bytes);
    else await appended(file, bytes);
    const output = batch.reduce((sum, line) => sum + line.outputBytes, this.#marks.output);
    this.#marks = { ...this.#marks, log: this.#marks.log + bytes.length, output };
  }

  #startSegment(): void {
    closeSync(this.#current.file);
    if (this.#current.isHead) this.#marks = { ...this.#marks, headOutput: this.#marks.output };
    const { log: start, output, headOutput } = this.#marks;
    const header: SegmentHeader = { segment: { start, output, headOutput } };
    const file = openSync(segmentPath(this.#path, start), 'w', 0o600);
    appendFileSync(file, `${JSON.stringify(header)}\n`);
    this.#current = { file, bytesMax: this.#layout.segmentBytes, isHead: false, bytes: 0 };
    for (const old of listSegments(this.#path).slice(0, -2)) unlinkSync(old.path);
  }
}

function openCurrent(path: string, layout: LogLayout, stored: LogMarks): CurrentFile {
  const segment = listSegments(path).at(-1);
  if (segment === undefined) {
    const file = openSync(path, 'a', 0o600);
    return { file, bytesMax: layout.headBytes, isHead: true, bytes: stored.log };
  }
  const file = openSync(segment.path, 'a', 0o600);
  const bytes = stored.log - segment.start;
  return { file, bytesMax: layout.segmentBytes, isHead: false, bytes };
}
