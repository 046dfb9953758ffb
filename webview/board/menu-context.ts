// The context for VS Code's own menus on a task of the board, and the key that opens them.

import type { TaskView } from '../../server/protocol/views.ts';

export function menuContext({ id, status }: TaskView): string {
  return JSON.stringify({
    webviewSection: 'task',
    taskId: id,
    status,
    preventDefaultContextMenuItems: true,
  });
}

export function contextOfEpic(epicId: string): string {
  return JSON.stringify({ webviewSection: 'epic', epicId, preventDefaultContextMenuItems: true });
}

/** VS Code opens its menu on the event that a right click causes. */
export function openMenu(element: HTMLElement | null): void {
  if (element === null) return;
  const { left, top, height } = element.getBoundingClientRect();
  const place = { clientX: left + 16, clientY: top + height / 2, bubbles: true, composed: true };
  element.dispatchEvent(new MouseEvent('contextmenu', { ...place, cancelable: true }));
}
