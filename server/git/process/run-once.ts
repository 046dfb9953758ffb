// Runs one git process to its end, with bounded output and bounded time. Knows nothing of
// repositories; the helper process runs this very code on the backend's behalf.

import { spawn } from 'node:child_process';

/** One git process, fully described; plain data, so that it can be sent to another process. */
export interface GitRequest {
  readonly binary: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The same object for all processes of one adapter. */
  readonly environment: Readonly<Record<string, string>>;
  readonly addedEnvironment: Readonly<Record<string, string>>;
  readonly input: string | Uint8Array | null;
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
  /**
   * What goes beyond the bound of the output is dropped (and the process ended) instead of being an
   * error.
   */
  readonly truncate: boolean;
}

/** Why git has no exit code of its own. */
export type GitProblem = 'missing' | 'timeout' | 'aborted' | 'too_much_output';

export interface GitOutput {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly problem: GitProblem | null;
}

const maxErrorBytes = 64 * 1024;
/** Between SIGTERM and SIGKILL. */
export const killGraceMs = 5_000;

/** Collects chunks up to a bound. */
class BoundedBuffer {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False when the chunk did not fit in whole. */
  add(chunk: Buffer): boolean {
    const room = this.#limit - this.#length;
    const part = chunk.length <= room ? chunk : chunk.subarray(0, room);
    this.#chunks.push(part);
    this.#length += part.length;
    return part.length === chunk.length;
  }

  bytes(): Buffer {
    const [first] = this.#chunks;
    return this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks, this.#length);
  }
}

export function runOnce(request: GitRequest, signal: AbortSignal | null): Promise<GitOutput> {
  if (signal?.aborted) return Promise.resolve(noOutput('aborted'));
  return new Promise((resolve) => {
    const child = spawn(request.binary, request.args, {
      cwd: request.cwd,
      env: { ...request.environment, ...request.addedEnvironment },
      stdio: [request.input === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
      // A Ctrl-C at a worker reaches its whole process group; git must finish what it has started.
      detached: process.platform !== 'win32',
    });
    const stdout = new BoundedBuffer(request.maxOutputBytes);
    const stderr = new BoundedBuffer(maxErrorBytes);
    let problem: GitProblem | null = null;
    let killTimer: NodeJS.Timeout | undefined;
    const end = (why: GitProblem): void => {
      if (problem !== null) return;
      problem = why;
      // Git removes its lock files on SIGTERM; only one that does not answer is killed.
      child.kill('SIGTERM');
      killTimer = setTimeout(() => child.kill('SIGKILL'), killGraceMs);
    };
    const onAbort = (): void => end('aborted');
    const timer = setTimeout(() => end('timeout'), request.timeoutMs);
    const settle = (code: number): void => {
      clearTimeout(timer);
      clearTimeout(killTimer);
      signal?.removeEventListener('abort', onAbort);
      const cut = problem === 'too_much_output' && request.truncate;
      resolve({
        code: cut ? 0 : code,
        stdout: stdout.bytes(),
        stderr: stderr.bytes().toString('utf8'),
        problem: cut ? null : problem,
      });
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    child.stdout?.on('data', (chunk: Buffer) => {
      if (!stdout.add(chunk)) end('too_much_output');
    });
    child.stderr?.on('data', (chunk: Buffer) => void stderr.add(chunk));
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      stderr.add(Buffer.from(error.message));
      problem = 'missing';
      settle(-1);
    });
    child.on('close', (code) => settle(code ?? -1));
    if (child.stdin) {
      // A git that ends before it has read everything says so by its exit code.
      child.stdin.on('error', () => undefined);
      child.stdin.end(request.input);
    }
  });
}

export function noOutput(problem: GitProblem): GitOutput {
  return { code: -1, stdout: Buffer.alloc(0), stderr: '', problem };
}
