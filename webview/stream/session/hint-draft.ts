// What a person types for the agent until it is sent. What is being sent is not remembered any
// more: it would come back as a draft after it was taken, where the page shows another task by then
// or is closed.

import type { Host } from '../../shared/host.ts';

export interface HintDraftParts {
  readonly memory: Host['memory'];
  /** True when it was taken. */
  readonly send: (text: string) => Promise<boolean>;
  readonly changed: () => void;
}

export class HintDraft {
  text: string;
  #sending: string | null = null;
  readonly #parts: HintDraftParts;

  constructor(text: string, parts: HintDraftParts) {
    this.text = text;
    this.#parts = parts;
  }

  get isSending(): boolean {
    return this.#sending !== null;
  }

  /** Without what is being sent: it can be written on meanwhile. */
  get kept(): string {
    const text = this.text.trimStart();
    if (this.#sending === null || !text.startsWith(this.#sending)) return this.text;
    return text.slice(this.#sending.length).trimStart();
  }

  async send(text: string): Promise<void> {
    const { memory, send, changed } = this.#parts;
    this.#sending = text;
    memory.amend({ draft: this.kept });
    changed();
    const isTaken = await send(text);
    if (isTaken) this.text = this.kept;
    this.#sending = null;
    // Its page may have been left: what was refused is the person's still.
    if (!isTaken) memory.amend({ draft: this.text });
    changed();
  }
}
