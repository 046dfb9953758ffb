// The effect of a drag over a row: into an epic, out of one, between two tasks, or onto a task to
// wait for it.

import type { StatusSnapshot } from '../../server/protocol/views.ts';
import { blockOn, moveTo, listSiblings, type Drop } from '../shared/plan/places.ts';
import type { Row } from './rows.ts';

export interface Hover {
  readonly row: Row;
  /** Position in the row, from 0 (its top) to 1. */
  readonly part: number;
  /** The key that creates a dependency is held. */
  readonly isLink: boolean;
}

export type DropZone = 'before' | 'after' | 'into';

/**
 * Half of a task row means before it, half means after it; epics and dependencies use the whole
 * row.
 */
export function dropZone({ row, part, isLink }: Hover): DropZone {
  if (row.kind !== 'task' || isLink) return 'into';
  return part < 0.5 ? 'before' : 'after';
}

export function decideDrop(
  board: StatusSnapshot,
  ids: readonly string[],
  hover: Hover,
): Drop | null {
  const { row } = hover;
  switch (row.kind) {
    case 'draft':
      return null;
    case 'epic':
      return moveTo(board, ids, { epic: row.epic.id, parent: null, before: null });
    case 'loose':
      return moveTo(board, ids, { epic: null, parent: null, before: null });
    case 'task': {
      const { task } = row;
      if (hover.isLink) return blockOn(board, ids, task.id);
      const place = { epic: task.epic_id, parent: task.parent_id };
      const siblings = listSiblings(board.tasks, place);
      const at = siblings.findIndex((one) => one.id === task.id);
      const before = dropZone(hover) === 'before' ? task.id : (siblings[at + 1]?.id ?? null);
      return moveTo(board, ids, { ...place, before });
    }
  }
}

/**
 * Moves all the tasks together one step up or down among their siblings. Returns null at the end.
 */
export function moveByOne(
  board: StatusSnapshot,
  ids: readonly string[],
  step: -1 | 1,
): Drop | null {
  const chosen = new Set(ids);
  const first = board.tasks.find((task) => chosen.has(task.id));
  if (first === undefined) return null;
  const place = { epic: first.epic_id, parent: first.parent_id };
  const siblings = listSiblings(board.tasks, place);
  const indexes = siblings.flatMap((task, index) => (chosen.has(task.id) ? [index] : []));
  const [top, bottom] = [indexes[0] ?? 0, indexes.at(-1) ?? 0];
  if (step === -1) {
    const above = siblings[top - 1];
    return above === undefined ? null : moveTo(board, ids, { ...place, before: above.id });
  }
  if (siblings[bottom + 1] === undefined) return null;
  return moveTo(board, ids, { ...place, before: siblings[bottom + 2]?.id ?? null });
}
