// Runs a provisioner's program to its end: argument arrays, a short environment, input from memory,
// bounded output and time.

import { spawn } from 'node:child_process';
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

/** Its stdout. The error is a sentence with the end of its output. */
export async function runProgram(request: ProgramRequest): Promise<Result<string, string>> {
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
  const end = await new Promise<number | Error | null>((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
  });
  if (limit.aborted) return err(`${program} did not end within ${request.timeoutMs / 1000} s.`);
  if (end instanceof Error) return err(`${program} could not be run: ${oneLine(end.message)}.`);
  if (end === 0) return ok(Buffer.concat(out).toString('utf8'));
  const words = oneLine(Buffer.concat(said).toString('utf8').slice(-1_000));
  return err(
    `${program} ended with exit code ${end ?? 'none'}${words === '' ? '' : `: ${words}`}.`,
  );
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
