// A git call and its result.

import type { Result } from '../core/failure.ts';
import type { ProgramProblem } from '../platform/ending.ts';

export interface GitCommand {
  readonly args: readonly string[];
  readonly cwd: string;
  /** Sent to git's standard input. */
  readonly input?: string | Uint8Array;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Runs before less urgent calls that wait. */
  readonly urgent?: boolean;
  /** Allows the user's hooks and commit signing. */
  readonly userHooks?: boolean;
  readonly timeoutMs?: number;
  /**
   * The process talks to another machine, so it gets the user's whole environment, as the user's
   * hooks do, because programs for keys and passwords need it.
   */
  readonly network?: boolean;
  /** Output above the limit is dropped and the process is killed, instead of an error. */
  readonly truncate?: boolean;
}

/** Why git has no exit code. */
export type GitProblem = ProgramProblem;

export interface GitOutput {
  /** -1 if there is none. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly problem: GitProblem | null;
}

export interface Question<T> {
  readonly input: string | Uint8Array;
  /** Returns null until the output contains the whole answer. */
  readonly read: (output: Buffer) => T | null;
}

/** A persistent git process that answers one question after another. */
export interface Conversation {
  /** Asks in order. The failure is git's output when it ended. */
  ask<T>(question: Question<T>): Promise<Result<T, GitOutput>>;
}

/** Converts settings to `-c key=value` arguments. */
export function settings(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
}
