// Tells a component of its own size, when it is there and whenever it has changed.

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
