// The exit codes of the command, and the judgement of a run over all tasks in its scope.

import type { RefusalKind } from '../core/failure.ts';
import type { TaskView } from '../protocol/api.ts';

export const exitCodes = {
  done: 0,
  failed: 1,
  left: 2,
  refused: 3,
  wrongUse: 64,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * The possible values of `error.kind` of `--json`: a refusal, wrong use of the command line, or a
 * fault.
 */
export type ErrorKind = RefusalKind | 'usage' | 'internal';

const exceptRefusals = {
  usage: exitCodes.wrongUse,
  internal: exitCodes.failed,
} as const satisfies {
  readonly [K in Exclude<ErrorKind, RefusalKind>]: ExitCode;
};

/** Every refusal has changed nothing, whatever its kind. */
export function exitCodeOf(kind: ErrorKind): ExitCode {
  return kind === 'usage' || kind === 'internal' ? exceptRefusals[kind] : exitCodes.refused;
}

export interface JudgedScope {
  readonly tasks: readonly Pick<TaskView, 'status'>[];
  /**
   * An epic that lands as a whole has not landed: its completed tasks are on its own branch only.
   */
  readonly unlandedEpic: boolean;
  readonly interrupted: boolean;
}

/** A failed task outweighs tasks that are left; cancelled ones are out of scope. */
export function judgeRun({ tasks, unlandedEpic, interrupted }: JudgedScope): ExitCode {
  if (interrupted) return exitCodes.interrupted;
  if (tasks.some((task) => task.status === 'failed')) return exitCodes.failed;
  const isLeft = tasks.some((task) => task.status !== 'completed' && task.status !== 'cancelled');
  return isLeft || unlandedEpic ? exitCodes.left : exitCodes.done;
}
