// One call of git, and its result.

import type { Result } from '../core/failure.ts';
import type { ProgramProblem } from '../platform/ending.ts';

export interface GitCommand {
  readonly args: readonly string[];
  readonly cwd: string;
  /** Written to git's standard input. */
  readonly input?: string | Uint8Array;
  /** Added to the environment of this one process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Goes before less urgent calls, if several wait for their turn. */
  readonly urgent?: boolean;
  /** Lets the hooks and the signing of the user run. */
  readonly userHooks?: boolean;
  readonly timeoutMs?: number;
  /**
   * It speaks with another machine, so it gets the user's whole environment, as hooks of the user
   * do: programs for keys and passwords are the user's own.
   */
  readonly network?: boolean;
  /** Output beyond the bound is dropped (and the process ended) instead of being an error. */
  readonly truncate?: boolean;
}

/** Why git has no exit code of its own. */
export type GitProblem = ProgramProblem;

export interface GitOutput {
  /** -1 if it has none. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly problem: GitProblem | null;
}

export interface Question<T> {
  readonly input: string | Uint8Array;
  /** Returns null until the output holds the whole answer. */
  readonly read: (output: Buffer) => T | null;
}

/** A git process that answers one question after the other. */
export interface Conversation {
  /** In turn. The failure is git's output as it ended. */
  ask<T>(question: Question<T>): Promise<Result<T, GitOutput>>;
}

/** Turns settings into `-c key=value` arguments. */
export function settings(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
}
