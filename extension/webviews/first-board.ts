// The part of a board that is embedded in a page, so that the page draws before its first request.
// Pure.

import type { StatusSnapshot, TaskView } from '../../server/protocol/views.ts';

/** The text of a page passes through VS Code's processes as one message. */
const rowsMax = 200;
const ancestorsMax = 10;

/**
 * A small board is embedded completely. For a larger one, the task page gets the task and its
 * direct neighbors; the rest arrives with the answer to its first request. Returns null if the page
 * must wait for that answer.
 */
export function firstBoard(board: StatusSnapshot, taskId: string | null): StatusSnapshot | null {
  if (board.tasks.length <= rowsMax) return board;
  const task = board.tasks.find(({ id }) => id === taskId);
  if (task === undefined) return null;
  const near = nearTo(board.tasks, task);
  const isNear = ({ id }: { readonly id: string }): boolean => near.has(id);
  const isOfNear = ({ task_id: id }: { readonly task_id: string }): boolean => near.has(id);
  return {
    ...board,
    tasks: board.tasks.filter(isNear),
    epics: epicsFor(board, task),
    questions: board.questions.filter(isOfNear),
    stuck: board.stuck.filter(isNear),
  };
}

/** Ids that the page of this task names; only the most important ones if there are too many. */
function nearTo(tasks: readonly TaskView[], task: TaskView): ReadonlySet<string> {
  const children = tasks.filter(({ parent_id: parent }) => parent === task.id);
  const dependents = tasks.filter(({ blocked_by: blockers }) => blockers.includes(task.id));
  const ids = [
    ...ancestorsOf(tasks, task),
    ...task.blocked_by,
    ...children.map(({ id }) => id),
    ...dependents.map(({ id }) => id),
  ];
  return new Set([task.id, ...ids.slice(0, rowsMax)]);
}

function ancestorsOf(tasks: readonly TaskView[], task: TaskView): readonly string[] {
  const ids: string[] = [];
  let parentId = task.parent_id;
  while (parentId !== null && ids.length < ancestorsMax) {
    const wanted = parentId;
    ids.push(wanted);
    parentId = tasks.find(({ id }) => id === wanted)?.parent_id ?? null;
  }
  return ids;
}

/** The choice of another epic needs all epics; a long list of them waits for the answer. */
function epicsFor({ epics }: StatusSnapshot, task: TaskView): StatusSnapshot['epics'] {
  return epics.length <= rowsMax ? epics : epics.filter(({ id }) => id === task.epic_id);
}
