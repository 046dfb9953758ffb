// Runs a provisioner's program to its end: argument arrays, a short environment, input from memory,
// bounded output and time.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { err, ok, type Result } from '../../core/failure.ts';
import { oneLine } from '../client/request.ts';

export interface ProgramRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input: string | Buffer;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

const outputBytesMax = 4 * 1024 * 1024;

/** How a program ended. */
export interface ProgramEnd {
  /** Null: it did not end by itself, and `problem` says why. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly problem: string | null;
}

/** Its stdout. The error is a sentence with the end of its output. */
export async function runProgram(request: ProgramRequest): Promise<Result<string, string>> {
  return outputOf(request.program, await programEnd(request));
}

export function outputOf(program: string, end: ProgramEnd): Result<string, string> {
  if (end.problem !== null) return err(end.problem);
  if (end.code === 0) return ok(end.stdout);
  // What a program prints last is its reason.
  const words = oneLine(end.stderr, end.stderr.length).slice(-wordsMax);
  const code = end.code ?? 'none';
  return err(`${program} ended with exit code ${code}${words === '' ? '' : `: ${words}`}.`);
}

const wordsMax = 300;

export async function programEnd(request: ProgramRequest): Promise<ProgramEnd> {
  const { program, args, env, cwd } = request;
  const limit = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal === undefined ? limit : AbortSignal.any([limit, request.signal]);
  const child = spawn(program, [...args], {
    env,
    cwd,
    stdio: 'pipe',
    signal,
    killSignal: 'SIGKILL',
  });
  const out = gather(child.stdout);
  const said = gather(child.stderr);
  child.stdin.on('error', () => undefined);
  child.stdin.end(request.input);
  const end = await endOf(child);
  const problem = limit.aborted
    ? `${program} did not end within ${request.timeoutMs / 1000} s.`
    : end instanceof Error
      ? `${program} could not be run: ${oneLine(end.message)}.`
      : null;
  return {
    code: typeof end === 'number' ? end : null,
    stdout: Buffer.concat(out).toString('utf8'),
    stderr: Buffer.concat(said).toString('utf8'),
    problem,
  };
}

/** What it has left running may hold its output open: a worker, or a shared connection of ssh. */
const heldOutputMs = 500;

async function endOf(child: ChildProcessWithoutNullStreams): Promise<number | Error | null> {
  let held: NodeJS.Timeout | undefined;
  const end = await new Promise<number | Error | null>((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
    child.once('exit', (code) => {
      held = setTimeout(() => resolve(code), heldOutputMs);
    });
  });
  clearTimeout(held);
  child.stdout.destroy();
  child.stderr.destroy();
  return end;
}

function gather(stream: NodeJS.ReadableStream): Buffer[] {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= outputBytesMax) chunks.push(chunk);
  });
  return chunks;
}
