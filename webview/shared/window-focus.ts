// VS Code gives the focus to a view as a whole: the component passes it on to the part in it that
// keys are for.

import type { ReactiveController, ReactiveControllerHost } from 'lit';

export class WindowFocus implements ReactiveController {
  readonly #pass: () => void;

  constructor(component: ReactiveControllerHost, pass: () => void) {
    this.#pass = pass;
    component.addController(this);
  }

  hostConnected(): void {
    window.addEventListener('focus', this.#onFocus);
  }

  hostDisconnected(): void {
    window.removeEventListener('focus', this.#onFocus);
  }

  readonly #onFocus = (): void => {
    if (document.activeElement === document.body) this.#pass();
  };
}
