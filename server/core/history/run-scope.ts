// Determines which tasks a run covers: those it worked on, and those of its scope that waited while
// it was active. Reports, the list of runs and the message at a run's end all use this. Pure.

import type { RunStory, Stories } from './stories.ts';
import type { TaskStory } from './task-story.ts';
import { isTop } from './waits.ts';
import { isWithin, overlaps, type Window } from './windows.ts';

/** The tasks that each run of single tasks was started for, with their blockers. By run id. */
export type AskedTasks = ReadonlyMap<string, ReadonlySet<string>>;

export function tasksInRun(
  { tasks }: Pick<Stories, 'tasks'>,
  run: RunStory,
  windows: readonly Window[],
  asked: AskedTasks,
): readonly TaskStory[] {
  const only = asked.get(run.id) ?? null;
  return [...tasks.values()].filter(
    (task) =>
      isTop(task) &&
      (isWorkedOn(task, run) || (isInScope(task, run, only) && hasOnlyWaited(task, windows))),
  );
}

function isWorkedOn({ attempts }: TaskStory, { id }: RunStory): boolean {
  return attempts.some(({ runId, lastRunId }) => runId === id || lastRunId === id);
}

function isInScope(task: TaskStory, run: RunStory, only: ReadonlySet<string> | null): boolean {
  if (only !== null) return only.has(task.id);
  // A run of single tasks whose ids are unknown covers only those that it worked on.
  return run.tasks === null && (run.epicId === null || task.epicId === run.epicId);
}

/** Work that another run did at the same time belongs to the other run. */
function hasOnlyWaited(task: TaskStory, windows: readonly Window[]): boolean {
  return (
    task.periods.some((period) => overlaps(period, windows)) &&
    !task.attempts.some(({ startMs }) => windows.some((window) => isWithin(startMs, window)))
  );
}
