// VS Code focuses a view as a whole; the component passes the focus on to the part that handles
// keys.

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
