// Starts and watches test/durable/child.ts.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ChildOrders } from './child.ts';

const program = fileURLToPath(new URL('child.ts', import.meta.url));

export interface TestChild {
  readonly pid: number;
  /**
   * Resolves when the child has printed the line, before or after this call; rejects if the child
   * exits without it.
   */
  said(line: string): Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  kill(signal: NodeJS.Signals): void;
  /** Asks it to close and waits for its exit. */
  close(): Promise<void>;
}

export function startChild(orders: ChildOrders): TestChild {
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  let over = false;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => {
    lines.push(line);
    notify();
  });
  const ended = Promise.all([once(child, 'exit'), once(reader, 'close')]).then(
    ([[code, signal]]) => {
      over = true;
      notify();
      return { code: code as number | null, signal: signal as string | null };
    },
  );
  return {
    pid: child.pid ?? 0,
    ended,
    kill: (signal) => void child.kill(signal),
    said: (line) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!lines.includes(line) && !over) return;
          listeners.delete(look);
          if (lines.includes(line)) resolve();
          else reject(new Error(`the child ended without "${line}"; it said: ${lines.join(', ')}`));
        };
        listeners.add(look);
        look();
      }),
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
