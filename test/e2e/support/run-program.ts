// Starts a program in a separate process group and observes it: its lines as they arrive, its end,
// and a time limit that kills it.

import { spawn } from 'node:child_process';
import { patience } from '../../patience.ts';

export interface FinishedProgram {
  readonly args: readonly string[];
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProgram {
  readonly pid: number;
  readonly ended: Promise<FinishedProgram>;
  /**
   * Resolves with the first line, past or future, that the test accepts; of standard output by
   * default.
   */
  line(accepts: (line: string) => boolean, from?: 'stdout' | 'stderr'): Promise<string>;
  /** Lines of standard output so far. */
  lineCount(): number;
  signal(name: NodeJS.Signals): void;
}

export interface ProgramStart {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const outputCharsMax = 32 * 1024 * 1024;

export function startProgram(start: ProgramStart): RunningProgram {
  const { program, args, cwd } = start;
  const timeoutMs = start.timeoutMs * patience;
  const child = spawn(program, [...args], {
    cwd,
    env: { ...start.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const pid = child.pid ?? 0;
  let stdout = '';
  let stderr = '';
  let isOver = false;
  let isLate = false;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (stdout.length < outputCharsMax) stdout += chunk;
    notify();
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    if (stderr.length < outputCharsMax) stderr += chunk;
    notify();
  });
  const timer = setTimeout(() => {
    isLate = true;
    process.kill(-pid, 'SIGKILL');
  }, timeoutMs);
  const ended = new Promise<FinishedProgram>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      isOver = true;
      notify();
      const words = args.join(' ');
      if (isLate) {
        reject(
          new Error(
            `not over after ${timeoutMs / 1000} s: ${words}\n${tail(stdout)}\n${tail(stderr)}`,
          ),
        );
      } else resolve({ args, code, stdout, stderr });
    });
  });
  ended.catch(() => undefined); // waiters are notified; waiting is optional
  return {
    pid,
    ended,
    line: (accepts, from = 'stdout') =>
      new Promise((resolve, reject) => {
        let seen = 0;
        const look = (): void => {
          const text = from === 'stdout' ? stdout : stderr;
          for (;;) {
            const end = text.indexOf('\n', seen);
            if (end === -1) break;
            const line = text.slice(seen, end);
            seen = end + 1;
            if (!accepts(line)) continue;
            listeners.delete(look);
            resolve(line);
            return;
          }
          if (!isOver) return;
          listeners.delete(look);
          reject(
            new Error(`${args.join(' ')} ended without the line\n${tail(stdout)}\n${tail(stderr)}`),
          );
        };
        listeners.add(look);
        look();
      }),
    lineCount: () => stdout.split('\n').length - 1,
    signal: (name) => {
      child.kill(name);
    },
  };
}

export function tail(text: string, chars = 4_000): string {
  return text.length > chars ? `…${text.slice(-chars)}` : text;
}
