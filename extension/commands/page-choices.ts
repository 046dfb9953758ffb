// The tasks that are offered when a person opens a page of a task without naming one. Pure.

import type { TaskView } from '../../server/protocol/views.ts';
import type { Subject } from '../webviews/panel-subject.ts';

/**
 * All of them, because each has a page: those with a stream come first, in the order of the plan.
 */
export function pageChoices(tasks: readonly TaskView[]): readonly TaskView[] {
  return [...tasks.filter(hasBegun), ...tasks.filter((task) => !hasBegun(task))];
}

/** If the user requested no specific attempt, the page follows the newest one. */
export function pageSubject(root: string, task: string, asked: number | null): Subject {
  return { root, id: task, attempt: asked };
}

/**
 * `attempts` counts used attempts, so a first attempt that is running or has succeeded is known
 * only by the status.
 */
function hasBegun({ attempts, branch, status }: TaskView): boolean {
  return attempts > 0 || branch !== null || (status !== 'ready' && status !== 'blocked');
}
