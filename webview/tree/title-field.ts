// The field for the title of a new or renamed row, and the rules for saving its text.

import type { Draft } from './rows.ts';
import type { TreeState } from './tree-state.ts';

export interface TitleFieldParts {
  readonly state: () => TreeState;
  /**
   * Saves the title, or discards it if null. `focusesRows` moves the keyboard focus back to the
   * rows.
   */
  readonly end: (title: string | null, focusesRows: boolean) => void;
  /** Opens a field for another row. */
  readonly again: (draft: Draft) => void;
}

export class TitleField {
  readonly #parts: TitleFieldParts;
  #isPressed = false;
  /** The field has lost the focus, and its text is saved in a moment. */
  isLeaving = false;

  constructor(parts: TitleFieldParts) {
    this.#parts = parts;
  }

  hostConnected(): void {
    window.addEventListener('pointerdown', this.#onPress);
    window.addEventListener('pointerup', this.#onRelease);
    window.addEventListener('pointercancel', this.#onRelease);
  }

  hostDisconnected(): void {
    window.removeEventListener('pointerdown', this.#onPress);
    window.removeEventListener('pointerup', this.#onRelease);
    window.removeEventListener('pointercancel', this.#onRelease);
  }

  onKey(event: KeyboardEvent): void {
    event.stopPropagation();
    const field = event.target as HTMLInputElement;
    if (event.key === 'Escape') {
      field.value = '';
      this.#parts.end(null, true);
    }
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    const title = field.value.trim();
    if (title === '') return;
    const draft = event.shiftKey ? this.#parts.state().draft : null;
    field.value = '';
    this.#parts.end(title, true);
    if (draft !== null) this.#parts.again(draft);
  }

  /**
   * The text is saved, as in VS Code's Explorer. With the mouse, this happens only after the click,
   * because nothing may move under the mouse.
   */
  onLeave(event: FocusEvent): void {
    const title = (event.target as HTMLInputElement).value.trim();
    const { draft, renaming } = this.#parts.state();
    if (draft === null && renaming === null) return;
    this.isLeaving = true;
    const end = (): void => {
      this.isLeaving = false;
      const state = this.#parts.state();
      const isSame = state.draft === draft && state.renaming === renaming;
      if (isSame) this.#parts.end(title === '' ? null : title, false);
    };
    if (!this.#isPressed) return end();
    const later = new AbortController();
    const released = (): void => {
      later.abort();
      setTimeout(end);
    };
    window.addEventListener('pointerup', released, { signal: later.signal });
    window.addEventListener('pointercancel', released, { signal: later.signal });
  }

  readonly #onPress = (): void => {
    this.#isPressed = true;
  };

  readonly #onRelease = (): void => {
    this.#isPressed = false;
  };
}
