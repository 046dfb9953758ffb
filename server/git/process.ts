// Starts git: argument arrays only, a controlled environment, bounded output, bounded time, a bounded number at once.

import { spawn } from 'node:child_process';
import { ownSettings, withoutHooks } from './environment.ts';
import { Semaphore } from './turns.ts';

export interface GitCommand {
  readonly args: readonly string[];
  readonly cwd: string;
  /** Written to git's standard input. */
  readonly input?: string | Uint8Array;
  /** Added to the environment of this one process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Lets the hooks and the signing of the user run. */
  readonly userHooks?: boolean;
  readonly timeoutMs?: number;
  /** What goes beyond the bound of the output is dropped (and the process ended) instead of being an error. */
  readonly truncate?: boolean;
}

/** Why there is no exit code of git's own to judge by. */
export type GitProblem = 'missing' | 'timeout' | 'aborted' | 'too_much_output';

export interface GitOutput {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly problem: GitProblem | null;
}

export interface GitProcesses {
  readonly run: (command: GitCommand) => Promise<GitOutput>;
}

export interface GitProcessOptions {
  readonly binary: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly concurrency: number;
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
}

const maxErrorBytes = 64 * 1024;
const killGraceMs = 5_000;

export function openGitProcesses(options: GitProcessOptions): GitProcesses {
  const semaphore = new Semaphore(options.concurrency);
  return { run: (command) => semaphore.run(() => runOnce(options, command)) };
}

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
    return Buffer.concat(this.#chunks, this.#length);
  }
}

function runOnce(options: GitProcessOptions, command: GitCommand): Promise<GitOutput> {
  if (command.signal?.aborted) return Promise.resolve(noOutput('aborted'));
  return new Promise((resolve) => {
    const child = spawn(options.binary, argumentsOf(command), {
      cwd: command.cwd,
      env: command.env ? { ...options.environment, ...command.env } : options.environment,
      stdio: [command.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const stdout = new BoundedBuffer(options.maxOutputBytes);
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
    const timer = setTimeout(() => end('timeout'), command.timeoutMs ?? options.timeoutMs);
    const settle = (code: number): void => {
      clearTimeout(timer);
      clearTimeout(killTimer);
      command.signal?.removeEventListener('abort', onAbort);
      const cut = problem === 'too_much_output' && command.truncate === true;
      resolve({
        code: cut ? 0 : code,
        stdout: stdout.bytes(),
        stderr: stderr.bytes().toString('utf8'),
        problem: cut ? null : problem,
      });
    };
    command.signal?.addEventListener('abort', onAbort, { once: true });
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
      child.stdin.end(command.input);
    }
  });
}

function argumentsOf(command: GitCommand): string[] {
  return [...ownSettings, ...(command.userHooks ? [] : withoutHooks), ...command.args];
}

function noOutput(problem: GitProblem): GitOutput {
  return { code: -1, stdout: Buffer.alloc(0), stderr: '', problem };
}
