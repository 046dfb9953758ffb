// Follows a file that an agent appends to, line by line, in pieces of limited size.

import { closeSync, fstatSync, openSync, readSync, watch, type FSWatcher } from 'node:fs';

export interface FollowOptions {
  readonly path: string;
  /** Byte offset of the first line that was not read yet. */
  readonly fromOffset: number;
  /** One complete line without its end, and the offset after it. */
  readonly onLine: (line: string, nextOffset: number) => void;
  /**
   * Called after each piece. The follower waits for it, so that a slow log slows down reading
   * instead of filling the memory.
   */
  readonly afterPiece?: () => Promise<void>;
}

const pieceBytes = 256 * 1024;
/**
 * Shared by all followers, because the kept bytes of a piece are copied before the next one is
 * read.
 */
let sharedBuffer: Buffer | null = null;
export const lineBytesMax = 8 * 1024 * 1024;
/** Watcher events closer together than this are handled together. */
const frameMs = 16;
/** Watchers may be missing (system limits, network folders) or late, so the file is also polled. */
const lookMs = 250;
const newline = 0x0a;

export class FileFollower {
  readonly #options: FollowOptions;
  readonly #file: number;
  readonly #framer: LineFramer;
  readonly #watcher: FSWatcher | null;
  #position: number;
  #isStopped = false;
  /** The file has changed since it was last read. */
  #hasChanged = false;
  #reading: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#file = openSync(options.path, 'r');
    this.#framer = new LineFramer(options);
    this.#position = options.fromOffset;
    this.#watcher = watchQuietly(options.path, () => this.#onChange());
    this.#timer = setTimeout(() => this.#look(), 0);
  }

  /** Reads to the current end of the file. */
  drain(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readToEnd());
    return this.#reading;
  }

  /** Like `drain`, but treats an incomplete last line as a line. Then stops following. */
  async finish(): Promise<void> {
    await this.drain();
    this.#framer.end();
    this.stop();
  }

  /**
   * The file was emptied, so continue at its start. Only after `drain`, with the writer stopped.
   */
  rewind(): void {
    this.#position = 0;
    this.#framer.rewind();
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#watcher?.close();
    void this.#reading.catch(() => undefined).then(() => closeSync(this.#file));
  }

  async #readToEnd(): Promise<void> {
    while (!this.#isStopped) {
      const buffer = (sharedBuffer ??= Buffer.allocUnsafe(pieceBytes));
      const count = readSync(this.#file, buffer, 0, pieceBytes, this.#position);
      if (count === 0) break;
      this.#position += count;
      this.#framer.push(buffer.subarray(0, count));
      await this.#options.afterPiece?.();
      // Yields between two pieces, so that much output does not block other agents and clients.
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  #look(): void {
    this.#timer = null;
    if (this.#isStopped) return;
    this.#hasChanged = false;
    const hasMore = fstatSync(this.#file).size > this.#position;
    void (hasMore ? this.drain().catch(() => undefined) : Promise.resolve()).then(() => {
      if (this.#isStopped) return;
      const waitMs = this.#hasChanged || hasMore ? frameMs : lookMs;
      this.#timer ??= setTimeout(() => this.#look(), waitMs);
    });
  }

  #onChange(): void {
    if (this.#hasChanged || this.#isStopped) return;
    this.#hasChanged = true;
    if (this.#timer === null) return; // it is being read now and will be read again
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), frameMs);
  }
}

const carriageReturn = 0x0d;

/**
 * Splits bytes into lines. A newline byte is never part of a longer UTF-8 character, so whole lines
 * decode safely.
 */
class LineFramer {
  readonly #onLine: FollowOptions['onLine'];
  #parts: Buffer[] = [];
  #partBytes = 0;
  #cutBytes = 0;
  #offset: number;

  constructor({ onLine, fromOffset }: FollowOptions) {
    this.#onLine = onLine;
    this.#offset = fromOffset;
  }

  push(piece: Buffer): void {
    let start = 0;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
      this.#offset += this.#partBytes + this.#cutBytes + (end - start) + 1;
      this.#finishLine(piece.subarray(start, end));
      start = end + 1;
    }
    if (start < piece.length) this.#keep(piece.subarray(start));
  }

  end(): void {
    if (this.#partBytes === 0) return;
    this.#offset += this.#partBytes + this.#cutBytes;
    this.#finishLine(Buffer.alloc(0));
  }

  /** An incomplete line is kept. Its bytes are no longer in the file, so they do not count. */
  rewind(): void {
    this.#offset = -(this.#partBytes + this.#cutBytes);
  }

  #finishLine(bytes: Buffer): void {
    if (this.#partBytes === 0) {
      this.#emit(bytes);
      return;
    }
    this.#keep(bytes);
    this.#emit(Buffer.concat(this.#parts));
    this.#parts = [];
    this.#partBytes = 0;
    this.#cutBytes = 0;
  }

  #keep(bytes: Buffer): void {
    const room = Math.max(0, lineBytesMax - this.#partBytes);
    if (room > 0) this.#parts.push(Buffer.from(bytes.subarray(0, room)));
    this.#partBytes += Math.min(room, bytes.length);
    this.#cutBytes += Math.max(0, bytes.length - room);
  }

  #emit(bytes: Buffer): void {
    const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
    const line = bytes.toString('utf8', 0, end);
    const isCut = this.#cutBytes > 0;
    const note = isCut ? ` …[${this.#cutBytes} bytes of this line are not kept]` : '';
    this.#onLine(line + note, this.#offset);
  }
}

function watchQuietly(path: string, onChange: () => void): FSWatcher | null {
  try {
    const watcher = watch(path, onChange);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
