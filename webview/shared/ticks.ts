// Calls a component periodically while it is on the page.

import type { ReactiveController, ReactiveControllerHost } from 'lit';

export class Ticks implements ReactiveController {
  readonly #everyMs: number;
  readonly #tick: () => void;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(component: ReactiveControllerHost, everyMs: number, tick: () => void) {
    this.#everyMs = everyMs;
    this.#tick = tick;
    component.addController(this);
  }

  hostConnected(): void {
    this.#timer = setInterval(this.#tick, this.#everyMs);
  }

  hostDisconnected(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }
}
