// Determines which tasks have a running agent, which of their logs are being written, and which
// tile is next. Pure.

import { askingTasks } from '../../server/protocol/needs.ts';
import type { StatusSnapshot, TaskView } from '../../server/protocol/views.ts';

export interface LiveAgent {
  readonly task: TaskView;
  /** The sub-task that the agent works on; null if it works on the task itself. */
  readonly part: TaskView | null;
  /** The task whose log is being written. */
  readonly logId: string;
}

/** More tiles than fit on a screen. */
export const tilesMax = 64;

/** Agents with questions come first; the others are in the order of the tree. */
export function liveAgents(
  board: Pick<StatusSnapshot, 'tasks' | 'epics' | 'questions'>,
): LiveAgent[] {
  const { tasks, epics } = board;
  const running = tasks.filter(
    (task) =>
      task.parent_id === null &&
      (task.status === 'in_progress' || task.status === 'claimed' || task.phase !== null),
  );
  const parts = new Map<string, TaskView>();
  for (const task of tasks) {
    const { parent_id: parent } = task;
    if (parent !== null && task.status === 'in_progress') parts.set(parent, task);
  }
  const asking = askingTasks(board);
  const epicPlaces = new Map(epics.map(({ id }, at) => [id, at]));
  const placed = running.map((task) => ({
    task,
    ranks: [
      asking.has(task.id) ? 0 : 1,
      epicPlaces.get(task.epic_id ?? '') ?? epics.length,
      task.position,
    ],
  }));
  return placed
    .sort((a, b) => compareRanks(a.ranks, b.ranks))
    .slice(0, tilesMax)
    .map(({ task }) => {
      const part = parts.get(task.id) ?? null;
      return { task, part, logId: part?.id ?? task.id };
    });
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((rank, index) => rank !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** An eighth of a grid at a time, because drawing all tiles in one frame would take too long. */
const shareOfTick = 1 / 8;

/**
 * The tiles with an outdated time to draw now; the least recently drawn come first, so that each
 * gets its turn.
 */
export function nextLate<T extends { readonly drawnMs: number }>(
  late: readonly T[],
  tiles: number,
): readonly T[] {
  const count = Math.ceil(tiles * shareOfTick) + 1;
  return late.toSorted((a, b) => a.drawnMs - b.drawnMs).slice(0, count);
}

/** The tile that an arrow key leads to; the same tile at an edge. */
export function tileBeside(index: number, key: string, columns: number, count: number): number {
  switch (key) {
    case 'ArrowLeft':
      return Math.max(0, index - 1);
    case 'ArrowRight':
      return Math.min(count - 1, index + 1);
    case 'ArrowUp':
      return index - columns < 0 ? index : index - columns;
    case 'ArrowDown':
      return index + columns >= count ? index : index + columns;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return index;
  }
}
