// Follows a file that an agent appends to, line by line, in bounded pieces.

import { closeSync, fstatSync, openSync, readSync, watch, type FSWatcher } from 'node:fs';

export interface FollowOptions {
  readonly path: string;
  /** Byte offset of the first line that was not taken yet. */
  readonly fromOffset: number;
  /** One complete line without its end, and the offset behind it. */
  readonly onLine: (line: string, nextOffset: number) => void;
  /**
   * Called after each piece; the follower waits for it, so a slow log slows the reading and not the
   * memory.
   */
  readonly afterPiece?: () => Promise<void>;
}

export interface FileFollower {
  /** Reads to the present end of the file. */
  drain(): Promise<void>;
  /** As `drain`, and takes an unfinished last line as a line. Then stops following. */
  finish(): Promise<void>;
  /** The file was emptied: go on at its beginning. Only after `drain`, with the writer stopped. */
  rewind(): void;
  stop(): void;
}

const pieceBytes = 256 * 1024;
export const lineBytesMax = 8 * 1024 * 1024;
/** Frames: events of the watcher that come closer together are one. */
const frameMs = 16;
/**
 * Watchers may be missing (limits of the system, network folders) or late: look at the file anyway.
 */
const lookMs = 250;
const newline = 0x0a;
const carriageReturn = 0x0d;

export function followFile(options: FollowOptions): FileFollower {
  const file = openSync(options.path, 'r');
  const framer = createFramer(options);
  const buffer = Buffer.allocUnsafe(pieceBytes);
  let position = options.fromOffset;
  let isStopped = false;
  let wanted = false;
  let current: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;

  const readToEnd = async (): Promise<void> => {
    while (!isStopped) {
      const count = readSync(file, buffer, 0, pieceBytes, position);
      if (count === 0) break;
      position += count;
      framer.push(buffer.subarray(0, count));
      await options.afterPiece?.();
      // A flood must not hold the event loop: other agents and clients come between two pieces.
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  };
  const drain = (): Promise<void> => {
    current = current.then(readToEnd);
    return current;
  };
  const look = (): void => {
    timer = null;
    if (isStopped) return;
    wanted = false;
    const hasMore = fstatSync(file).size > position;
    void (hasMore ? drain().catch(() => undefined) : Promise.resolve()).then(() => {
      if (!isStopped) timer ??= setTimeout(look, wanted || hasMore ? frameMs : lookMs);
    });
  };
  const watcher = watchQuietly(options.path, () => {
    if (wanted || isStopped) return;
    wanted = true;
    if (timer === null) return; // reading now; it looks again afterwards
    clearTimeout(timer);
    timer = setTimeout(look, frameMs);
  });
  timer = setTimeout(look, 0);

  const stop = (): void => {
    if (isStopped) return;
    isStopped = true;
    if (timer !== null) clearTimeout(timer);
    watcher?.close();
    void current.catch(() => undefined).then(() => closeSync(file));
  };
  return {
    drain,
    finish: async () => {
      await drain();
      framer.end();
      stop();
    },
    rewind: () => {
      position = 0;
      framer.rewind();
    },
    stop,
  };
}

interface Framer {
  push(piece: Buffer): void;
  end(): void;
  rewind(): void;
}

/**
 * Cuts bytes into lines. A newline byte never is part of a longer UTF-8 character, so whole lines
 * decode safely.
 */
function createFramer(options: FollowOptions): Framer {
  let parts: Buffer[] = [];
  let partBytes = 0;
  let cutBytes = 0;
  let offset = options.fromOffset;

  const emit = (bytes: Buffer): void => {
    const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
    const line = bytes.toString('utf8', 0, end);
    const note = cutBytes > 0 ? ` …[${cutBytes} bytes of this line are not kept]` : '';
    options.onLine(line + note, offset);
  };
  const keep = (bytes: Buffer): void => {
    const room = Math.max(0, lineBytesMax - partBytes);
    if (room > 0) parts.push(Buffer.from(bytes.subarray(0, room)));
    partBytes += Math.min(room, bytes.length);
    cutBytes += Math.max(0, bytes.length - room);
  };
  const finishLine = (bytes: Buffer): void => {
    if (partBytes === 0) {
      emit(bytes);
      return;
    }
    keep(bytes);
    emit(Buffer.concat(parts));
    parts = [];
    partBytes = 0;
    cutBytes = 0;
  };
  return {
    push: (piece) => {
      let start = 0;
      for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
        offset += partBytes + cutBytes + (end - start) + 1;
        finishLine(piece.subarray(start, end));
        start = end + 1;
      }
      if (start < piece.length) keep(piece.subarray(start));
    },
    end: () => {
      if (partBytes === 0) return;
      offset += partBytes + cutBytes;
      finishLine(Buffer.alloc(0));
    },
    // An unfinished line stays; its bytes are gone from the file, so they no longer count.
    rewind: () => {
      offset = -(partBytes + cutBytes);
    },
  };
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
