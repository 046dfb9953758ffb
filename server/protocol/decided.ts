// Determines which run must start after a person's decision that no active run carries out. Pure.

import { epicLinePrefix } from '../core/plan/outcome.ts';
import type { RunOptions } from './requests/runs.ts';
import type { StatusSnapshot, TaskView } from './views.ts';

/** The changed tasks, and their epic if they all belong to one. */
export interface Changed {
  readonly epic: string | null;
  readonly ids: readonly string[];
}

export const nothingNamed: Changed = { epic: null, ids: [] };

/** `id`: of a task, a candidate, a question or an epic. */
export function changedBy(board: StatusSnapshot | null, id: string): Changed {
  const task = topTask(board, id);
  if (task !== null) return { epic: task.epic_id, ids: [task.id] };
  const isEpic = board?.epics.some((epic) => epic.id === id) === true;
  return isEpic ? { epic: id, ids: [] } : nothingNamed;
}

/**
 * After a decision that releases a task: only a run starts the tasks that wait for it and lands its
 * epic. Returns null if no run is needed, or if it would also start tasks that were ready before,
 * which the person did not request. `board`: from before the decision.
 */
export function runAfterDecision(board: StatusSnapshot | null, id: string): Changed | null {
  const task = topTask(board, id);
  if (board === null || board.run === null || task === null) return null;
  const about = changedBy(board, id);
  return needsRun(board, task) && !startsOthers(board, about) ? about : null;
}

/**
 * The open and the changed tasks after a run of single tasks. Returns null for all tasks. A task
 * that was just added is not on the board yet.
 */
export function tasksToReread(
  board: StatusSnapshot | null,
  { ids }: Changed,
): readonly string[] | null {
  if (board?.run?.tasks === undefined) return null;
  const meant = new Set([...board.run.tasks, ...ids]);
  const open = board.tasks.filter(
    ({ id, parent_id: parent, status }) =>
      parent === null && meant.has(id) && status !== 'completed' && status !== 'cancelled',
  );
  const known = new Set(board.tasks.map(({ id }) => id));
  const again = [...open.map(({ id }) => id), ...ids.filter((id) => !known.has(id))];
  return again.length === 0 ? null : again;
}

/** The task, epic or question that a request decides on, or null. */
export function decidedId(name: string, params: object): string | null {
  const { id } = params as { readonly id?: unknown };
  return (name === 'approve' || name === 'answer') && typeof id === 'string' ? id : null;
}

/** Whether no active run works on the changed tasks. Returns false before the first run. */
export function isLeftAlone(board: StatusSnapshot | null, about: Changed): boolean {
  const last = board?.run ?? null;
  if (last === null) return false;
  const isOfIt = last.epic_id === null || about.epic === null || last.epic_id === about.epic;
  const covers = isOfIt && about.ids.every((id) => last.tasks?.includes(id) ?? true);
  return !last.active || !covers;
}

/**
 * Options for a run like the last one that works on the changed tasks. Returns null if no run
 * exists.
 */
export function runLikeLast(
  board: StatusSnapshot | null,
  about: Changed,
): Pick<RunOptions, 'tasks' | 'epic' | 'land' | 'target' | 'workers'> | null {
  const last = board?.run ?? null;
  if (last === null) return null;
  const epic = last.epic_id === null ? null : (about.epic ?? last.epic_id);
  const tasks = tasksToReread(board, about);
  const scope = tasks !== null ? { tasks } : epic === null ? {} : { epic };
  return { ...scope, land: last.land, target: last.target_branch, workers: last.workers };
}

/** The task itself or, for a sub-task or a candidate, the task that it belongs to. */
function topTask(board: StatusSnapshot | null, id: string): TaskView | null {
  const asked = board?.questions.find((question) => question.id === id)?.task_id ?? id;
  const task = board?.tasks.find((each) => each.id === asked);
  if (task === undefined) return null;
  const above = task.parent_id ?? task.candidate_of;
  return above === null ? task : topTask(board, above);
}

function needsRun({ tasks, epics }: StatusSnapshot, task: TaskView): boolean {
  const lands =
    task.status === 'conflict' || (task.status === 'needs_review' && task.review_kind !== 'plan');
  if (!lands) return true;
  const epic = epics.find(({ id }) => id === task.epic_id);
  const landsAsWhole = epic?.branch?.startsWith(epicLinePrefix) === true;
  return landsAsWhole || tasks.some(({ waits_for: waits }) => waits.includes(task.id));
}

function startsOthers(board: StatusSnapshot, about: Changed): boolean {
  const again = tasksToReread(board, about)?.filter((id) => !about.ids.includes(id)) ?? [];
  const isOfAll = board.run?.epic_id === null;
  return board.tasks.some(({ id, epic_id: epic, parent_id: parent, status }) => {
    if (status !== 'ready' || parent !== null || about.ids.includes(id)) return false;
    return again.length > 0 ? again.includes(id) : isOfAll || epic === about.epic;
  });
}
