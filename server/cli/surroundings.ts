// The command's view of its process: streams, time, signals. Tests replace it.

import type { Readable, Writable } from 'node:stream';
import type { Backends } from './backends.ts';

export interface Output {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  /** True once the reader has closed the stream. Later output is dropped. */
  readonly isClosed: boolean;
  write(text: string): void;
  /** Calls back once when the reader is gone. Returns a function that unsubscribes. */
  onClosed(listener: () => void): () => void;
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly readStdin: () => Promise<Buffer>;
  /** Raw standard input and output, for a protocol. */
  readonly pipes: () => { readonly input: Readable; readonly output: Writable };
  /**
   * Asks the user for one line, on standard error. The function returns null at the end of the
   * input; the property is null without a terminal.
   */
  readonly askLine: ((question: string) => Promise<string | null>) | null;
  /** Loaded only by commands that need them, because the store and the engine are large. */
  readonly loadBackends: () => Promise<Backends>;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /**
   * SIGINT and SIGTERM. While a handler is registered, they do not end the process. Returns a
   * function that unsubscribes.
   */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** Exits the process at once, whatever is running. */
  readonly exitNow: (code: number) => void;
}
