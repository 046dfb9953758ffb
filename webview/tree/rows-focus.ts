// Says when the keyboard comes to the rows and leaves them, as VS Code knows no focus of a view:
// the keybindings of the tree count in between.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Host } from '../shared/host.ts';

type Component = ReactiveControllerHost & HTMLElement & { readonly host: Host | null };

export class RowsFocus implements ReactiveController {
  readonly #component: Component;
  readonly #isHere: () => boolean;
  #told = false;

  constructor(component: Component, isHere: () => boolean) {
    this.#component = component;
    this.#isHere = isHere;
    component.addController(this);
  }

  /** Whether VS Code knows that the keyboard is here. */
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
    this.#check();
  }

  readonly #checkSoon = (): void => queueMicrotask(this.#check);

  readonly #check = (): void => {
    const { host } = this.#component;
    const here = document.hasFocus() && this.#isHere();
    if (here === this.#told || host === null) return;
    this.#told = here;
    delete this.#component.dataset['keys'];
    host.action('keysHere', { here }).then(
      () => {
        // Tests wait for it.
        if (here && this.#told) this.#component.dataset['keys'] = 'here';
      },
      () => (this.#told = false),
    );
  };
}
