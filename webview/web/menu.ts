// The menu of a row, a card or an item, in the place of VS Code's own: by a right click, a long
// press, the menu key, or a button.

import { runnableStatuses, type TaskStatus } from '../../server/core/plan/state.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type { HostActionName, HostActions, WebviewAction } from '../messages/messages.ts';
import { type ActionParts, pageActions } from './actions.ts';
import type { PanelFrame } from './panel-frame.ts';

interface MenuItem {
  readonly label: string;
  readonly act: () => unknown;
}

/** Commands of VS Code's menus that the tree executes on the selection. */
const treeActions: readonly (readonly [WebviewAction, string])[] = [
  ['newTask', 'New Task'],
  ['newEpic', 'New Epic'],
  ['rename', 'Rename'],
  ['moveToEpic', 'Move to Epic…'],
  ['addBlocker', 'Add Blocker…'],
  ['removeBlocker', 'Remove Blocker…'],
  ['duplicate', 'Duplicate'],
  ['moveUp', 'Move Up'],
  ['moveDown', 'Move Down'],
  ['archive', 'Archive Epic'],
  ['remove', 'Remove'],
  ['filter', 'Filter…'],
  ['undo', 'Undo'],
  ['redo', 'Redo'],
];

const reviewable: ReadonlySet<TaskStatus> = new Set([
  'needs_review',
  'completed',
  'in_progress',
  'conflict',
]);

/** Asks for one of the actions on a task or an epic (null for neither), and carries it out. */
export async function openMenu(
  parts: ActionParts,
  frame: PanelFrame,
  subject: string | null,
): Promise<void> {
  const ids = frame.selection;
  const { board } = parts.project;
  const inTree = treeActions.map(([action, label]): MenuItem => ({
    label,
    act: () => frame.do(action, ids),
  }));
  const own = board === null || subject === null ? [] : itemsFor(parts, board, subject);
  const items = [...own, ...(frame.place.name === 'tree' ? inTree : [])];
  if (items.length === 0) return;
  const choices = items.map(({ label }, index) => ({ id: String(index), label }));
  const chosen = await parts.dialogs.pick('Actions', choices);
  if (chosen !== null) await items[Number(chosen)]?.act();
}

function itemsFor(parts: ActionParts, board: StatusSnapshot, id: string): readonly MenuItem[] {
  const task = board.tasks.find((each) => each.id === id);
  const epic = board.epics.find((each) => each.id === id);
  const act = pageActions(parts);
  const does = <N extends HostActionName>(
    label: string,
    name: N,
    params: HostActions[N]['params'],
  ): MenuItem => ({ label, act: () => act(name, params) });
  if (task !== undefined) {
    const { status } = task;
    return [
      does('Open', 'openStream', { task: id }),
      ...(reviewable.has(status) ? [does('Review Change', 'review', { id })] : []),
      ...(runnableStatuses.includes(status) ? [does('Run', 'runTask', { task: id })] : []),
      ...(status === 'failed' ? [does('Retry', 'retry', { task: id })] : []),
      ...(status === 'completed' ? [does('Undo Landing…', 'undoLanding', { id })] : []),
    ];
  }
  if (epic === undefined) return [];
  return [
    does('Run', 'runEpic', { epic: id }),
    does('Open Board', 'openBoard', { epic: id }),
    does('Review Change', 'review', { id }),
    ...(epic.landing_state === 'landed' ? [does('Undo Landing…', 'undoLanding', { id })] : []),
  ];
}
