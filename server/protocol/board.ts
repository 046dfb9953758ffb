// Applies changes to the board. Pure, so that every client has the same board at the same number.

import type { BoardChanges } from './panel-views.ts';
import type { StatusSnapshot, TaskView } from './views.ts';

/**
 * Returns the board after the changes. Returns null if changes start after the board's number,
 * because they would leave a gap and the board must be requested again.
 */
export function applyChanges(board: StatusSnapshot, changes: BoardChanges): StatusSnapshot | null {
  if (changes.snapshot !== null) return changes.snapshot.seq < board.seq ? board : changes.snapshot;
  if (changes.after > board.seq) return null;
  if (changes.seq < board.seq) return board;
  return {
    ...withSettings(board, changes),
    seq: changes.seq,
    counts: changes.counts,
    progress: changes.progress,
    run: changes.run,
    target: changes.target,
    epics: changes.epics ?? board.epics,
    stuck: changes.stuck ?? board.stuck,
    questions: changes.questions,
    holds: changes.holds,
    tasks: mergeTasks(board.tasks, changes),
  };
}

/** The list of unaccepted values changes together with the settings. */
function withSettings(board: StatusSnapshot, changes: BoardChanges): StatusSnapshot {
  const { config, unaccepted } = changes;
  if (config === undefined) return board;
  const { unaccepted: _before, ...rest } = board;
  return { ...rest, config, ...(unaccepted !== undefined && { unaccepted }) };
}

/** Tasks are ordered by `position`. New and moved ones may be anywhere. */
function mergeTasks(tasks: readonly TaskView[], changes: BoardChanges): readonly TaskView[] {
  if (changes.tasks.length === 0 && changes.removed_tasks.length === 0) return tasks;
  return replaceFew(tasks, changes) ?? mergeAll(tasks, changes);
}

/** Up to this many tasks are searched one by one. */
const fewTasks = 8;

/**
 * Handles the common case, a few tasks changed in place, without visiting every task. Returns null
 * for other changes.
 */
function replaceFew(tasks: readonly TaskView[], changes: BoardChanges): readonly TaskView[] | null {
  if (changes.tasks.length > fewTasks || changes.removed_tasks.length > 0) return null;
  const replaced = [...tasks];
  for (const task of changes.tasks) {
    const index = replaced.findIndex(({ id }) => id === task.id);
    if (replaced[index]?.position !== task.position) return null;
    replaced[index] = task;
  }
  return replaced;
}

function mergeAll(tasks: readonly TaskView[], changes: BoardChanges): readonly TaskView[] {
  const changed = new Map(changes.tasks.map((task) => [task.id, task]));
  const removed = new Set(changes.removed_tasks);
  let isSorted = true;
  const kept: TaskView[] = [];
  for (const task of tasks) {
    if (removed.has(task.id)) continue;
    const next = changed.get(task.id) ?? task;
    changed.delete(task.id);
    if (next.position !== task.position) isSorted = false;
    kept.push(next);
  }
  const added = [...changed.values()].filter((task) => !removed.has(task.id));
  if (isSorted && added.length === 0) return kept;
  kept.push(...added);
  return kept.sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1));
}
