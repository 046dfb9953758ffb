// Most changes of a board leave every row in place, so only the changed rows are created again.

import type { StatusSnapshot } from '../../server/protocol/views.ts';
import { epicKey, type Row, taskKey } from './rows.ts';

/**
 * Rows after a change; null if rows may have appeared, disappeared or moved. `indexOf` maps keys to
 * row indexes.
 */
export function patchRows(
  rows: readonly Row[],
  indexOf: ReadonlyMap<string, number>,
  before: StatusSnapshot,
  next: StatusSnapshot,
): readonly Row[] | null {
  if (before.tasks.length !== next.tasks.length || before.epics.length !== next.epics.length) {
    return null;
  }
  const patched = [...rows];
  for (const [index, epic] of next.epics.entries()) {
    const was = before.epics[index];
    if (was === epic) continue;
    if (was?.id !== epic.id || was.status !== epic.status) return null;
    const at = indexOf.get(epicKey(epic.id));
    const row = at === undefined ? undefined : patched[at];
    if (at !== undefined && row?.kind === 'epic') patched[at] = { ...row, epic };
  }
  for (let index = 0; index < next.tasks.length; index += 1) {
    const [was, task] = [before.tasks[index], next.tasks[index]];
    if (was === task || task === undefined) continue;
    const stays =
      was?.id === task.id && was.epic_id === task.epic_id && was.parent_id === task.parent_id;
    if (!stays) return null;
    const at = indexOf.get(taskKey(task.id));
    const row = at === undefined ? undefined : patched[at];
    if (at !== undefined && row?.kind === 'task') patched[at] = { ...row, task };
  }
  return patched;
}
