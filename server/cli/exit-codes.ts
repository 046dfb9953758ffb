// The exit codes of the command, and the judgement of a run over all tasks in its scope.

import type { EpicView, RunView, TaskView } from '../protocol/api.ts';

export const exitCodes = {
  done: 0,
  failed: 1,
  left: 2,
  refused: 3,
  wrongUse: 64,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export interface JudgedScope {
  readonly tasks: readonly Pick<TaskView, 'status'>[];
  /** Epics that the run lands as a whole: unlanded work on their branch is left over. */
  readonly epics: readonly Pick<EpicView, 'branch' | 'landed_sha' | 'counts'>[];
  readonly land: RunView['land'];
  readonly interrupted: boolean;
}

/** A failed task outweighs tasks that are left; cancelled ones are out of scope. */
export function judgeRun(scope: JudgedScope): ExitCode {
  if (scope.interrupted) return exitCodes.interrupted;
  if (scope.tasks.some((task) => task.status === 'failed')) return exitCodes.failed;
  const isLeft = scope.tasks.some(
    (task) => task.status !== 'completed' && task.status !== 'cancelled',
  );
  return isLeft || hasUnlandedEpic(scope) ? exitCodes.left : exitCodes.done;
}

/** With `epic` and `review` a completed task has landed on the epic's branch only. */
function hasUnlandedEpic({ epics, land }: JudgedScope): boolean {
  if (land === 'task') return false;
  return epics.some(
    (epic) => epic.branch !== null && epic.landed_sha === null && epic.counts.completed > 0,
  );
}
