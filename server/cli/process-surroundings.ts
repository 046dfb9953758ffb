// The real process as the command's surroundings.

import { createInterface } from 'node:readline';
import { Refusal } from '../core/failure.ts';
import { exitCodes } from './exit-codes.ts';
import type { Output, Surroundings } from './surroundings.ts';

const stdinBytesMax = 32 * 1024 * 1024;

export function processSurroundings(): Surroundings {
  return {
    cwd: process.cwd(),
    env: process.env,
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    readStdin,
    pipes: () => ({ input: process.stdin, output: process.stdout }),
    // Created on demand, because few commands use it and opening standard input costs milliseconds.
    get askLine() {
      return process.stdin.isTTY === true && process.stderr.isTTY === true ? askLine : null;
    },
    loadBackends: async () => await import('../main/connect.ts'),
    nowMs: () => Date.now(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    onInterrupt,
    exitNow: (code) => process.exit(code),
  };
}

/**
 * Flushes the output before the process exits, because some systems write to pipes asynchronously.
 */
export async function flushAndExit(code: number): Promise<void> {
  const flushed = [process.stdout, process.stderr].map(
    (stream) =>
      new Promise<void>((resolve) => {
        if (stream.writableLength === 0 || stream.destroyed) resolve();
        else stream.write('', () => resolve());
      }),
  );
  const late = new Promise<void>((resolve) => setTimeout(resolve, 2000));
  await Promise.race([Promise.all(flushed), late]);
  // A failure of the last write is reported in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  process.exit(isLost && code === exitCodes.done ? exitCodes.failed : code);
}

/**
 * True if output could not be written although the reader still exists, because the disk is full.
 */
let isLost = false;

function outputOf(stream: NodeJS.WriteStream): Output {
  let isClosed = false;
  const listeners = new Set<() => void>();
  // The reader is gone (`drover events | head`). That is not an error; the stream may stop.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (isClosed) return;
    isClosed = true;
    if (error.code !== 'EPIPE') isLost = true;
    for (const listener of listeners) listener();
  });
  return {
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns > 0 ? stream.columns : 80;
    },
    get rows() {
      return stream.rows > 0 ? stream.rows : 24;
    },
    get isClosed() {
      return isClosed;
    },
    write(text) {
      if (!isClosed) stream.write(text);
    },
    onClosed(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    const part = chunk as Buffer;
    bytes += part.length;
    if (bytes > stdinBytesMax) {
      throw new Refusal('file', 'Standard input is larger than 32 MB; split it.');
    }
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

/** Uses the terminal's own line editing, so that Ctrl-C remains a signal. */
async function askLine(question: string): Promise<string | null> {
  const reader = createInterface({ input: process.stdin, terminal: false });
  process.stderr.write(question);
  try {
    return await new Promise((resolve) => {
      reader.once('line', resolve);
      reader.once('close', () => resolve(null));
    });
  } finally {
    reader.close();
    process.stdin.pause();
  }
}

function onInterrupt(listener: () => void): () => void {
  const heard = (): void => {
    stayThroughTheEnd();
    listener();
  };
  process.on('SIGINT', heard);
  process.on('SIGTERM', heard);
  return () => {
    process.off('SIGINT', heard);
    process.off('SIGTERM', heard);
  };
}

let isStaying = false;

/**
 * Ctrl-C arrives twice (from the terminal and from the launcher). The second one may come after the
 * handler was removed, and must not change the exit code of an exiting command.
 */
function stayThroughTheEnd(): void {
  if (isStaying) return;
  isStaying = true;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
}
