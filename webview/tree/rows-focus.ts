// Reports when the rows get and lose the keyboard focus, because VS Code does not know the focus
// inside a view. The tree's keybindings apply in between.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Host } from '../shared/host.ts';
import { isOnRows } from './pressed-keys.ts';

type Component = ReactiveControllerHost & HTMLElement & { readonly host: Host | null };

export class RowsFocus implements ReactiveController {
  readonly #component: Component;
  readonly #rows: () => HTMLElement | null;
  #told = false;
  /** The rows get the focus as soon as they are drawn. */
  #isWanted = false;

  constructor(component: Component, rows: () => HTMLElement | null) {
    this.#component = component;
    this.#rows = rows;
    component.addController(this);
  }

  /** Passes the focus to the rows, which may not be drawn yet. */
  focusRows(): void {
    this.#isWanted = true;
    this.#focusIfDrawn();
  }

  /** Whether VS Code knows that the focus is here. */
  get counts(): boolean {
    return this.#component.dataset['keys'] === 'here';
  }

  hostConnected(): void {
    for (const name of ['focus', 'blur']) window.addEventListener(name, this.#check);
    for (const name of ['focusin', 'focusout'])
      this.#component.addEventListener(name, this.#checkSoon);
  }

  hostDisconnected(): void {
    for (const name of ['focus', 'blur']) window.removeEventListener(name, this.#check);
    for (const name of ['focusin', 'focusout'])
      this.#component.removeEventListener(name, this.#checkSoon);
  }

  hostUpdated(): void {
    this.#focusIfDrawn();
    this.#check();
  }

  #focusIfDrawn(): void {
    const rows = this.#rows();
    if (!this.#isWanted || rows === null) return;
    this.#isWanted = false;
    // The user may have moved the focus since then.
    if (document.hasFocus()) rows.focus();
  }

  readonly #checkSoon = (): void => queueMicrotask(this.#check);

  readonly #check = (): void => {
    const { host } = this.#component;
    const here = document.hasFocus() && isOnRows(this.#component.shadowRoot, this.#rows());
    if (here === this.#told || host === null) return;
    this.#told = here;
    delete this.#component.dataset['keys'];
    host.action('keysHere', { here }).then(
      ({ counts }) => {
        // Tests wait for this.
        if (counts && this.#told) this.#component.dataset['keys'] = 'here';
      },
      () => (this.#told = false),
    );
  };
}
