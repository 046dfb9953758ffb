// Reports a component's own size when it appears and whenever it changes.

import type { ReactiveController, ReactiveControllerHost } from 'lit';

export class SizeController implements ReactiveController {
  readonly #component: Element;
  readonly #observer: ResizeObserver;

  constructor(component: ReactiveControllerHost & Element, resized: () => void) {
    this.#component = component;
    this.#observer = new ResizeObserver(resized);
    component.addController(this);
  }

  hostConnected(): void {
    this.#observer.observe(this.#component);
  }

  hostDisconnected(): void {
    this.#observer.disconnect();
  }
}
