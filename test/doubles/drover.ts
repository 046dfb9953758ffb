// One call of the command with an in-memory backend: its exit code and its output.

import { memoryBackend, type MemoryBackend } from './memory-backend.ts';
import { memoryTerminal, type MemoryTerminal } from './terminal.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly backend: MemoryBackend;
}

export async function drover(
  args: readonly string[],
  backend: MemoryBackend = memoryBackend(),
  prepare: (terminal: MemoryTerminal) => void = () => {},
): Promise<Ran> {
  const terminal = memoryTerminal(backend.backends);
  prepare(terminal);
  const code = await terminal.run(...args);
  return { code, out: terminal.stdout.text, err: terminal.stderr.text, backend };
}
