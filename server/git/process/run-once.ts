// Runs one git process to its end, with bounded output and bounded time. Knows nothing of
// repositories.

import { type ChildProcess, spawn } from 'node:child_process';

/** One git process, fully described. */
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
  /** It speaks with others, or lets programs of the user run: it may leave processes behind. */
  readonly mayLeaveOthers: boolean;
}

/** Why git has no exit code of its own. */
export type GitProblem = 'missing' | 'timeout' | 'aborted' | 'too_much_output';

export interface GitOutput {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly problem: GitProblem | null;
}

export const maxErrorBytes = 64 * 1024;
/** Between SIGTERM and SIGKILL. */
const killGraceMs = 5_000;

/** Collects chunks up to a bound. */
export class BoundedBuffer {
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
    if (part.length > 0) this.#chunks.push(part);
    this.#length += part.length;
    return part.length === chunk.length;
  }

  bytes(): Buffer {
    const [first] = this.#chunks;
    return this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks, this.#length);
  }
}

/** Ends a git process that takes too long, says too much, or is not wanted any more. */
export class Ending {
  readonly #kill: (signal: NodeJS.Signals) => void;
  readonly #aborted: AbortSignal | null;
  readonly #timer: NodeJS.Timeout;
  #killTimer: NodeJS.Timeout | undefined;
  problem: GitProblem | null = null;

  constructor(
    { timeoutMs }: GitRequest,
    aborted: AbortSignal | null,
    kill: (signal: NodeJS.Signals) => void,
  ) {
    this.#kill = kill;
    this.#aborted = aborted;
    this.#timer = setTimeout(() => this.end('timeout'), timeoutMs);
    aborted?.addEventListener('abort', this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => this.end('aborted');

  end(why: GitProblem): void {
    if (this.problem !== null) return;
    this.problem = why;
    // Git removes its lock files on SIGTERM; only one that does not answer is killed.
    this.#kill('SIGTERM');
    this.#killTimer = setTimeout(() => this.#kill('SIGKILL'), killGraceMs);
  }

  /** The process is gone. */
  settle(
    request: GitRequest,
    said: { readonly code: number; readonly stdout: Buffer; readonly stderr: Buffer },
  ): GitOutput {
    clearTimeout(this.#timer);
    clearTimeout(this.#killTimer);
    this.#aborted?.removeEventListener('abort', this.#onAbort);
    const cut = this.problem === 'too_much_output' && request.truncate;
    return {
      code: cut ? 0 : said.code,
      stdout: said.stdout,
      stderr: said.stderr.toString('utf8'),
      problem: cut ? null : this.problem,
    };
  }
}

export async function runOnce(request: GitRequest, signal: AbortSignal | null): Promise<GitOutput> {
  if (signal?.aborted) return noOutput('aborted');
  const child = spawn(request.binary, request.args, {
    cwd: request.cwd,
    env: { ...request.environment, ...request.addedEnvironment },
    stdio: [request.input === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
    // A Ctrl-C at a worker reaches its whole process group; git must finish what it has started.
    detached: process.platform !== 'win32',
  });
  const output = outputOf(request, child, signal);
  child.stdin?.end(request.input);
  return output;
}

/** What the process says until it has ended. */
export function outputOf(
  request: GitRequest,
  child: ChildProcess,
  signal: AbortSignal | null,
): Promise<GitOutput> {
  return new Promise((resolve) => {
    const stdout = new BoundedBuffer(request.maxOutputBytes);
    const stderr = new BoundedBuffer(maxErrorBytes);
    const ending = new Ending(request, signal, (name) => child.kill(name));
    const settle = (code: number): void => {
      const said = { code, stdout: stdout.bytes(), stderr: stderr.bytes() };
      resolve(ending.settle(request, said));
    };
    // The exit code of a git that ends before it has read everything shows that.
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', (chunk: Buffer) => {
      if (!stdout.add(chunk)) ending.end('too_much_output');
    });
    child.stderr?.on('data', (chunk: Buffer) => void stderr.add(chunk));
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      stderr.add(Buffer.from(error.message));
      ending.problem = 'missing';
      settle(-1);
    });
    child.on('close', (code) => settle(code ?? -1));
  });
}

export function noOutput(problem: GitProblem): GitOutput {
  return { code: -1, stdout: Buffer.alloc(0), stderr: '', problem };
}
