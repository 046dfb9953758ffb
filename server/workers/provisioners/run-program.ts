// Runs a provisioner's program to its end: with argument arrays, a minimal environment, input from
// memory, and limited output and time.

import { err, ok, type Result } from '../../core/failure.ts';
import type { ProgramProblem } from '../../platform/ending.ts';
import { runToEnd } from '../../platform/run-to-end.ts';
import { toSingleLine } from '../client/request.ts';

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
  /** Null if it did not end by itself. `problem` is then the reason. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly problem: string | null;
}

/** Its stdout. The error is a sentence with the end of its output. */
export async function runProgram(request: ProgramRequest): Promise<Result<string, string>> {
  return programOutput(request.program, await programEnd(request));
}

export function programOutput(program: string, end: ProgramEnd): Result<string, string> {
  if (end.problem !== null) return err(end.problem);
  if (end.code === 0) return ok(end.stdout);
  // The last output of a program explains its failure.
  const words = toSingleLine(end.stderr, end.stderr.length).slice(-wordsMax);
  const code = end.code ?? 'none';
  return err(`${program} ended with exit code ${code}${words === '' ? '' : `: ${words}`}.`);
}

const wordsMax = 300;

export async function programEnd(request: ProgramRequest): Promise<ProgramEnd> {
  const { program, args, env, cwd, input, timeoutMs, signal = null } = request;
  const limits = { timeoutMs, signal, maxOutputBytes: outputBytesMax };
  const end = await runToEnd({ program, args, env, cwd, input, ...limits });
  const stderr = end.stderr.toString('utf8');
  return {
    code: end.problem === null ? end.code : null,
    stdout: end.stdout.toString('utf8'),
    stderr,
    problem: problemSentence(request, end, stderr),
  };
}

function problemSentence(
  { program, timeoutMs }: ProgramRequest,
  { problem }: { readonly problem: ProgramProblem | null },
  stderr: string,
): string | null {
  switch (problem) {
    case null:
      return null;
    case 'timeout':
      return `${program} did not end within ${timeoutMs / 1000} s.`;
    case 'missing':
      return `${program} could not be run: ${toSingleLine(stderr)}.`;
    case 'aborted':
      return `${program} was stopped.`;
    case 'too_much_output':
      return `${program} printed more than ${outputBytesMax / 1024 / 1024} MiB.`;
  }
}
