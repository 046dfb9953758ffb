// An in-memory terminal (or pipe): the command's output, and keys to press.

import { PassThrough } from 'node:stream';
import type { Backends } from '../../server/cli/backends.ts';
import { runCommand } from '../../server/cli/run-command.ts';
import type { Output, Surroundings } from '../../server/cli/surroundings.ts';

export interface MemoryOutput extends Output {
  text: string;
  /** The reader disconnects. */
  breakPipe(): void;
}

function memoryOutput(isTTY: boolean): MemoryOutput {
  const listeners = new Set<() => void>();
  const output = {
    isTTY,
    columns: 80,
    rows: 24,
    isClosed: false,
    text: '',
    write(text: string) {
      if (!output.isClosed) output.text += text;
    },
    onClosed(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    breakPipe() {
      output.isClosed = true;
      for (const listener of listeners) listener();
    },
  };
  return output;
}

export interface MemoryTerminal {
  readonly stdout: MemoryOutput;
  readonly stderr: MemoryOutput;
  readonly exits: number[];
  nowMs: number;
  stdin: Buffer;
  /** The lines that the person types when asked, in order. */
  readonly lines: string[];
  readonly env: NodeJS.ProcessEnv;
  interrupt(): void;
  run(...args: readonly string[]): Promise<number>;
}

export function memoryTerminal(backends: Backends, isTTY = false): MemoryTerminal {
  const stdout = memoryOutput(isTTY);
  const stderr = memoryOutput(isTTY);
  const listeners = new Set<() => void>();
  const terminal: MemoryTerminal = {
    stdout,
    stderr,
    exits: [],
    nowMs: 1_700_000_000_000,
    stdin: Buffer.alloc(0),
    lines: [],
    env: { PATH: '/bin' },
    interrupt() {
      for (const listener of listeners) listener();
    },
    run: (...args) => runCommand(args, surroundings),
  };
  const surroundings: Surroundings = {
    cwd: '/project',
    env: terminal.env,
    stdout,
    stderr,
    askLine: isTTY
      ? async (question) => {
          stderr.write(question);
          return terminal.lines.shift() ?? null;
        }
      : null,
    readStdin: async () => terminal.stdin,
    pipes: () => ({ input: new PassThrough(), output: new PassThrough() }),
    loadBackends: async () => backends,
    nowMs: () => terminal.nowMs,
    // Waiting takes no real time.
    sleep: async (ms) => {
      await new Promise((resolve) => setImmediate(resolve));
      terminal.nowMs += ms;
    },
    onInterrupt: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    exitNow: (code) => {
      terminal.exits.push(code);
    },
  };
  return terminal;
}
