// The scroll position of the rows, kept while the view is hidden or the window is reloaded.

import type { LitElement, ReactiveController } from 'lit';
import type { TreeState } from './tree-state.ts';
import { rowHeightPx } from './tree-styles.ts';

interface ScrollParts {
  readonly state: () => TreeState;
  /** Remembers the state of the tree. */
  readonly keep: () => void;
}

export class ScrollPlace implements ReactiveController {
  readonly #component: LitElement;
  readonly #parts: ScrollParts;
  #isRestored = false;

  constructor(component: LitElement, parts: ScrollParts) {
    this.#component = component;
    this.#parts = parts;
    component.addController(this);
  }

  hostUpdated(): void {
    const rows = this.#component.renderRoot.querySelector('.rows');
    const { keys, top } = this.#parts.state();
    if (this.#isRestored || rows === null || keys.length === 0) return;
    this.#isRestored = true;
    // The event does not bubble, and the element of the rows may be another one later.
    this.#component.renderRoot.addEventListener('scrollend', this.#onScrolled, true);
    const index = top === null ? -1 : keys.indexOf(top);
    if (index <= 0) return;
    // The list scrolls to its start when it gets its element, after this.
    void this.#component.updateComplete.then(() => (rows.scrollTop = index * rowHeightPx));
  }

  readonly #onScrolled = (event: Event): void => {
    const rows = event.target as HTMLElement;
    const state = this.#parts.state();
    state.top = state.keys[Math.round(rows.scrollTop / rowHeightPx)] ?? null;
    this.#parts.keep();
  };
}
