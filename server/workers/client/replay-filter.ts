// For runtimes without event ids: a new connection may repeat the output from its start. Such a
// repetition is held back until it is certain, so that nothing is shown twice or dropped by
// mistake.

import type { WorkerEvent } from '../wire-schemas.ts';

type LineEvent = Exclude<WorkerEvent, { readonly done: true }>;

/** How many events from the start are remembered. */
const rememberedMax = 2_000;

export class ReplayFilter {
  readonly #tell: (event: LineEvent) => void;
  readonly #shown: string[] = [];
  #isFull = false;
  #held: LineEvent[] | null = null;

  constructor(tell: (event: LineEvent) => void) {
    this.#tell = tell;
  }

  /** `again`: events without ids were already shown. */
  begin(again: boolean): void {
    this.#held = again && !this.#isFull ? [] : null;
  }

  take(event: LineEvent): void {
    if (this.#held === null) {
      this.#show(event);
      return;
    }
    const isSame = this.#shown[this.#held.length] === keyOf(event);
    if (isSame) {
      this.#held.push(event);
      // Everything was repeated, so new output follows.
      if (this.#held.length === this.#shown.length) this.#held = null;
      return;
    }
    this.end();
    this.#show(event);
  }

  /** The connection ended, and the held lines were not a complete repetition. */
  end(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const event of held) this.#show(event);
  }

  #show(event: LineEvent): void {
    if (this.#shown.length < rememberedMax) this.#shown.push(keyOf(event));
    else this.#isFull = true;
    this.#tell(event);
  }
}

function keyOf(event: LineEvent): string {
  return `${event.stream ?? ''}\0${event.line ?? ''}`;
}
