// Which tasks are offered when a person opens a page of a task without naming one. Pure.

import type { TaskView } from '../../server/protocol/views.ts';
import type { Subject } from '../webviews/panel-subject.ts';

/** All of them, since each has a page: those with a stream first, in the order of the plan. */
export function pageChoices(tasks: readonly TaskView[]): readonly TaskView[] {
  return [...tasks.filter(hasBegun), ...tasks.filter((task) => !hasBegun(task))];
}

/** If the user asked for no attempt, the page follows the newest one. */
export function pageSubject(root: string, task: string, asked: number | null): Subject {
  return { root, id: task, attempt: asked };
}

/**
 * `attempts` counts those that were used up: a first one that works, or has succeeded, is known by
 * the status.
 */
function hasBegun({ attempts, branch, status }: TaskView): boolean {
  return attempts > 0 || branch !== null || (status !== 'ready' && status !== 'blocked');
}
