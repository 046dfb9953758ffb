// The process of the command as it sees it: streams, time, signals. Tests bring their own.

import type { Readable, Writable } from 'node:stream';
import type { Backends } from './backends.ts';

export interface Output {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  /** True once the reader has closed the stream; later output is dropped. */
  readonly isClosed: boolean;
  write(text: string): void;
  /** Calls back once when the reader goes; returns unsubscribe. */
  onClosed(listener: () => void): () => void;
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly readStdin: () => Promise<Buffer>;
  /** Standard input and output as they are, for a protocol. */
  readonly pipes: () => { readonly input: Readable; readonly output: Writable };
  /**
   * Asks a person for one line, on standard error; null for the end of input. Null without a
   * terminal.
   */
  readonly askLine: ((question: string) => Promise<string | null>) | null;
  /** Loaded only by commands that need it: the store and the engine are heavy. */
  readonly loadBackends: () => Promise<Backends>;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /**
   * SIGINT and SIGTERM; while a handler is registered they do not end the process. Returns
   * unsubscribe.
   */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** Ends the process at once, whatever is under way. */
  readonly exitNow: (code: number) => void;
}
