// Starts and watches test/store-sqlite/child.ts.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ChildOrders } from './child.ts';

const program = fileURLToPath(new URL('child.ts', import.meta.url));

export interface SqliteChild {
  /** The next line that the process prints; null at the end of its output. */
  nextLine(): Promise<string | null>;
  /** Ends the input of the process, which is the signal to continue. */
  goOn(): void;
  /** Kills the process with SIGKILL and waits until it has ended. */
  kill(): Promise<void>;
  readonly ended: Promise<void>;
  readonly pid: number;
}

export function startSqliteChild(orders: ChildOrders): SqliteChild {
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit').then(() => undefined);
  return {
    ended,
    pid: child.pid ?? -1,
    nextLine: async () => {
      const next = await lines.next();
      return next.done === true ? null : next.value;
    },
    goOn: () => void child.stdin.end(),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
