// Dragging rows with the mouse: the dragged rows, the hovered row, and the effect of a drop there.

import { decideDrop, dropZone, type DropZone } from './drops.ts';
import type { Drop } from '../shared/plan/places.ts';
import type { Row } from './rows.ts';
import { selectOnly } from './selection.ts';
import type { TreePlan } from './tree-plan.ts';
import type { TreeState } from './tree-state.ts';

export interface Hovered {
  readonly index: number;
  readonly zone: DropZone;
  readonly drop: Drop;
}

export interface TreeDragParts {
  readonly state: TreeState;
  readonly plan: TreePlan;
  readonly changed: () => void;
  /** Moves the keyboard focus to the rows. */
  readonly focus: () => void;
}

export class TreeDrag {
  readonly #parts: TreeDragParts;
  #dragged: readonly string[] = [];
  hovered: Hovered | null = null;

  constructor(parts: TreeDragParts) {
    this.#parts = parts;
  }

  readonly onStart = (event: DragEvent): void => {
    const { state, changed } = this.#parts;
    const found = findRow(state, event);
    if (found === null || event.dataTransfer === null) return;
    if (!state.selection.keys.has(found.row.key)) state.selection = selectOnly(found.row.key);
    this.#dragged = state.selectedTasks();
    event.dataTransfer.effectAllowed = 'all';
    event.dataTransfer.setData('text/plain', this.#dragged.join('\n'));
    // Not immediately, because a page that changes under the mouse ends the drag before it has
    // started.
    setTimeout(() => {
      state.isDragging = this.#dragged.length > 0;
      state.changed();
      changed();
    });
  };

  readonly onOver = (event: DragEvent): void => {
    if (this.#dragged.length === 0 || event.dataTransfer === null) return;
    event.preventDefault();
    this.hovered = this.#hover(event);
    event.dataTransfer.dropEffect = effectOf(this.hovered?.drop ?? null);
    this.#parts.changed();
  };

  readonly onLeave = (event: DragEvent): void => {
    // The event also fires for every row that the mouse leaves for the next one.
    const { left, right, top, bottom } = (event.currentTarget as Element).getBoundingClientRect();
    const { clientX: x, clientY: y } = event;
    if (x > left && x < right && y > top && y < bottom) return;
    this.hovered = null;
    this.#parts.changed();
  };

  readonly onDrop = (event: DragEvent): void => {
    event.preventDefault();
    const { state, plan } = this.#parts;
    const hovered = this.#hover(event);
    if (state.board !== null && hovered !== null) plan.drop(state.board, hovered.drop);
    this.onEnd();
    this.#parts.focus();
  };

  readonly onEnd = (): void => {
    const { state, changed } = this.#parts;
    this.#dragged = [];
    this.hovered = null;
    state.isDragging = false;
    state.changed();
    changed();
  };

  #hover(event: DragEvent): Hovered | null {
    const { state } = this.#parts;
    const found = findRow(state, event);
    if (state.board === null || found === null) return null;
    const { top, height } = found.element.getBoundingClientRect();
    const isLink = linkKeyIsHeld(event);
    const part = (event.clientY - top) / Math.max(1, height);
    const hover = { row: found.row, part, isLink };
    const drop = decideDrop(state.board, this.#dragged, hover);
    return drop === null ? null : { index: found.index, zone: dropZone(hover), drop };
  }
}

/** Not Alt if releasing it focuses the window's menu bar. */
function linkKeyIsHeld(event: DragEvent): boolean {
  return isMac ? event.altKey || event.metaKey : event.ctrlKey;
}

const isMac = navigator.platform.startsWith('Mac');

function effectOf(drop: Drop | null): 'none' | 'link' | 'move' {
  if (drop === null || drop.kind === 'refused') return 'none';
  return drop.kind === 'block' ? 'link' : 'move';
}

/** The row that a mouse event applies to. */
export function findRow(
  state: TreeState,
  event: Event,
): { readonly row: Row; readonly index: number; readonly element: HTMLElement } | null {
  const element = (event.target as Element).closest<HTMLElement>('.row');
  const index = Number(element?.dataset['index'] ?? -1);
  const row = state.rows[index];
  return row === undefined || element === null ? null : { row, index, element };
}
