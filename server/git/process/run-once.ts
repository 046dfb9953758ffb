// Runs one git process to its end, with limited output and time. Knows nothing about repositories.

import type { GitOutput, GitProblem } from '../git-command.ts';
import { runToEnd, type OutputLimits, type ProgramEnd } from '../../platform/run-to-end.ts';

/** A complete description of one git process. */
export interface GitRequest {
  readonly binary: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All processes of one adapter share this object. */
  readonly environment: Readonly<Record<string, string>>;
  readonly addedEnvironment: Readonly<Record<string, string>>;
  readonly input: string | Uint8Array | null;
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
  /** If true, output above the limit is dropped and the process is killed, instead of an error. */
  readonly truncate: boolean;
  /**
   * The process talks to other machines or runs the user's programs, so it may leave processes
   * behind.
   */
  readonly mayLeaveOthers: boolean;
}

export async function runOnce(request: GitRequest, signal: AbortSignal | null): Promise<GitOutput> {
  const end = await runToEnd({
    program: request.binary,
    args: request.args,
    cwd: request.cwd,
    env: { ...request.environment, ...request.addedEnvironment },
    input: request.input,
    ...outputLimits(request, signal),
  });
  return gitOutput(request, end);
}

export function outputLimits(request: GitRequest, signal: AbortSignal | null): OutputLimits {
  const { maxOutputBytes, timeoutMs } = request;
  return { maxOutputBytes, timeoutMs, signal };
}

export function gitOutput({ truncate }: GitRequest, end: ProgramEnd): GitOutput {
  const isCut = end.problem === 'too_much_output' && truncate;
  return {
    code: isCut ? 0 : (end.code ?? -1),
    stdout: end.stdout,
    stderr: end.stderr.toString('utf8'),
    problem: isCut ? null : end.problem,
  };
}

export function noOutput(problem: GitProblem): GitOutput {
  return { code: -1, stdout: Buffer.alloc(0), stderr: '', problem };
}
