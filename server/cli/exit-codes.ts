// The exit codes of the command, and the exit code of a run over all tasks in its scope.

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

/** The values of `error.kind` in `--json`: a refusal, a usage error or an internal error. */
export type ErrorKind = RefusalKind | 'usage' | 'internal';

const exceptRefusals = {
  usage: exitCodes.wrongUse,
  internal: exitCodes.failed,
} as const satisfies {
  readonly [K in Exclude<ErrorKind, RefusalKind>]: ExitCode;
};

/** A refusal has changed nothing, whatever its kind. */
export function exitCodeForError(kind: ErrorKind): ExitCode {
  return kind === 'usage' || kind === 'internal' ? exceptRefusals[kind] : exitCodes.refused;
}

export interface JudgedScope {
  readonly tasks: readonly Pick<TaskView, 'status'>[];
  /**
   * An epic that lands as a whole has not landed, so its completed tasks are only on its own
   * branch.
   */
  readonly unlandedEpic: boolean;
  readonly interrupted: boolean;
}

/** A failed task takes precedence over remaining tasks. Canceled tasks are out of scope. */
export function judgeRun({ tasks, unlandedEpic, interrupted }: JudgedScope): ExitCode {
  if (interrupted) return exitCodes.interrupted;
  if (tasks.some((task) => task.status === 'failed')) return exitCodes.failed;
  const isLeft = tasks.some((task) => task.status !== 'completed' && task.status !== 'cancelled');
  return isLeft || unlandedEpic ? exitCodes.left : exitCodes.done;
}
