// The context menu of the active row, and the buttons in an epic's row.

import type { Row } from './rows.ts';
import type { TreeParts } from './tree-keys.ts';
import { draftAtEnd } from './tree-state.ts';

/** VS Code opens its menu on the event that a right click causes. */
export function openRowMenu(root: ParentNode): void {
  const row = root.querySelector<HTMLElement>('.row.active');
  if (row === null) return;
  const { left, bottom } = row.getBoundingClientRect();
  const place = { clientX: left + 24, clientY: bottom, bubbles: true, composed: true };
  row.dispatchEvent(new MouseEvent('contextmenu', { ...place, cancelable: true }));
}

/** Returns true if the click was on a button in an epic's row. */
export function pressEpicButton(
  parts: TreeParts | null,
  row: Row,
  isOn: (part: string) => boolean,
): boolean {
  if (parts === null || row.kind !== 'epic') return false;
  const { host, ran, state } = parts;
  if (isOn('[data-run]')) ran(host.action('runEpic', { epic: row.epic.id }));
  else if (isOn('[data-add]')) state.startDraft(draftAtEnd(row.epic.id));
  else return false;
  return true;
}
