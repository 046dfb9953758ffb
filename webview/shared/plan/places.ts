// The position of a task and its possible positions, for dragging, keys and menus.

import { cycleIfAdded, cycleText } from '../../../server/core/plan/graph.ts';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import type { GraphNode } from '../../../server/core/plan/graph-edges.ts';

/**
 * A position among siblings: in an epic (null = none), below a parent, before a sibling (null = at
 * the end).
 */
export interface TaskPlace {
  readonly epic: string | null;
  readonly parent: string | null;
  readonly before: string | null;
}

export type Drop =
  | {
      readonly kind: 'move';
      readonly ids: readonly string[];
      readonly to: TaskPlace;
      readonly words: string;
    }
  | {
      readonly kind: 'block';
      readonly ids: readonly string[];
      readonly blocker: string;
      readonly words: string;
    }
  | { readonly kind: 'refused'; readonly words: string };

export function listSiblings(
  tasks: readonly TaskView[],
  place: Pick<TaskPlace, 'epic' | 'parent'>,
): readonly TaskView[] {
  if (place.parent !== null) return tasks.filter((task) => task.parent_id === place.parent);
  return tasks.filter((task) => task.parent_id === null && task.epic_id === place.epic);
}

export function findTaskPlace(tasks: readonly TaskView[], task: TaskView): TaskPlace {
  const place = { epic: task.epic_id, parent: task.parent_id };
  const siblings = listSiblings(tasks, place);
  const next = siblings[siblings.findIndex((one) => one.id === task.id) + 1];
  return { ...place, before: next?.id ?? null };
}

/** The tasks with these ids in the order of the board, without tasks whose parent moves too. */
export function movable(tasks: readonly TaskView[], ids: readonly string[]): readonly TaskView[] {
  const wanted = new Set(ids);
  return tasks.filter(
    (task) => wanted.has(task.id) && (task.parent_id === null || !wanted.has(task.parent_id)),
  );
}

/** The effect of moving tasks to a position. */
export function moveTo(board: StatusSnapshot, ids: readonly string[], to: TaskPlace): Drop {
  const tasks = movable(board.tasks, ids);
  if (tasks.length === 0) return { kind: 'refused', words: 'Only tasks can be moved there.' };
  const below = to.parent === null ? null : descendantsAndSelf(board.tasks, tasks);
  if (to.parent !== null && below?.has(to.parent) === true)
    return { kind: 'refused', words: 'A task can’t be put below itself.' };
  const epic = board.epics.find((one) => one.id === to.epic);
  const parent = board.tasks.find((one) => one.id === to.parent);
  const where = parent?.title ?? epic?.title ?? 'no epic';
  const what = tasks.length === 1 ? (tasks[0]?.title ?? '') : `${tasks.length} tasks`;
  const movedIds = tasks.map((task) => task.id);
  const before = skipMoved(board.tasks, to, new Set(movedIds));
  return { kind: 'move', ids: movedIds, to: { ...to, before }, words: `Move ${what} to ${where}` };
}

/** A task that moves itself cannot be the reference; the next task that stays is used. */
function skipMoved(
  tasks: readonly TaskView[],
  to: TaskPlace,
  moved: ReadonlySet<string>,
): string | null {
  if (to.before === null || !moved.has(to.before)) return to.before;
  const siblings = listSiblings(tasks, to);
  const from = siblings.findIndex((one) => one.id === to.before);
  return siblings.slice(from).find((one) => !moved.has(one.id))?.id ?? null;
}

function descendantsAndSelf(
  tasks: readonly TaskView[],
  roots: readonly TaskView[],
): ReadonlySet<string> {
  const found = new Set(roots.map((task) => task.id));
  // Parents may follow their sub-tasks in the list, so this repeats until nothing is new. There are
  // few levels.
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const task of tasks)
      if (task.parent_id !== null && found.has(task.parent_id)) found.add(task.id);
  }
  return found;
}

/** The effect of making tasks wait for another one; a loop is refused by name. */
export function blockOn(board: StatusSnapshot, ids: readonly string[], blocker: string): Drop {
  const tasks = movable(board.tasks, ids).filter((task) => task.id !== blocker);
  const target = board.tasks.find((task) => task.id === blocker);
  if (tasks.length === 0 || target === undefined)
    return { kind: 'refused', words: 'A task can’t wait for itself.' };
  const nodes = graphNodes(board.tasks);
  const titles = new Map(board.tasks.map((task) => [task.id, task.title]));
  for (const task of tasks) {
    const cycle = cycleIfAdded(nodes, task.id, blocker);
    if (cycle === null) continue;
    const named = cycle.map((id) => short(titles.get(id) ?? id));
    return { kind: 'refused', words: `They would wait for each other: ${cycleText(named)}` };
  }
  const fresh = tasks.filter((task) => !task.blocked_by.includes(blocker));
  const what = tasks.length === 1 ? short(tasks[0]?.title ?? '') : `${tasks.length} tasks`;
  if (fresh.length === 0)
    return { kind: 'refused', words: `${what} waits for ${short(target.title)} already.` };
  return {
    kind: 'block',
    ids: fresh.map((task) => task.id),
    blocker,
    words: `${what} ${tasks.length === 1 ? 'waits' : 'wait'} for ${short(target.title)}`,
  };
}

const shownTitleMax = 40;

function short(title: string): string {
  return title.length > shownTitleMax ? `${title.slice(0, shownTitleMax - 1)}…` : title;
}

export function graphNodes(tasks: readonly TaskView[]): readonly GraphNode[] {
  return tasks.map((task) => ({
    id: task.id,
    blockedBy: task.blocked_by,
    parentId: task.parent_id,
    sequence: task.position,
  }));
}
