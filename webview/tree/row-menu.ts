// The context menu of the row that the keyboard is on.

/** VS Code opens its menu on the event that a right click makes. */
export function openRowMenu(root: ParentNode): void {
  const row = root.querySelector<HTMLElement>('.row.active');
  if (row === null) return;
  const { left, bottom } = row.getBoundingClientRect();
  const place = { clientX: left + 24, clientY: bottom, bubbles: true, composed: true };
  row.dispatchEvent(new MouseEvent('contextmenu', { ...place, cancelable: true }));
}
