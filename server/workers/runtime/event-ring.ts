// The last events of a job, as they appear in the stream (worker contract §5.2). Ids count from 0
// and are never reused.

import type { WorkerEvent } from '../wire-schemas.ts';
import { keptEvents, writeEvent } from '../wire.ts';

export interface EventBatch {
  readonly text: string;
  /** The id with which the next batch starts. */
  readonly nextId: number;
}

/**
 * Escaping makes a line up to six times longer, so limiting the number of events alone does not
 * limit the memory.
 */
const keptCharacters = 64 * 1024 * 1024;

export class EventRing {
  readonly #slots: string[] = [];
  #oldestId = 0;
  #nextId = 0;
  #characters = 0;

  /** The first event that is kept. */
  get oldestId(): number {
    return this.#oldestId;
  }

  get nextId(): number {
    return this.#nextId;
  }

  get characters(): number {
    return this.#characters;
  }

  /** Whether the next event replaces the oldest one. */
  get isFull(): boolean {
    return this.#nextId - this.#oldestId >= keptEvents || this.#characters >= keptCharacters;
  }

  push(event: WorkerEvent): void {
    while (this.isFull) this.#dropOldest();
    const text = writeEvent(this.#nextId, event);
    this.#slots[this.#nextId % keptEvents] = text;
    this.#characters += text.length;
    this.#nextId += 1;
  }

  /** Events from `id` on (which must be kept), at least one, until the text has `charactersMax`. */
  read(id: number, charactersMax: number): EventBatch {
    let text = '';
    let at = id;
    while (at < this.#nextId && text.length < charactersMax) {
      text += this.#slots[at % keptEvents] ?? '';
      at += 1;
    }
    return { text, nextId: at };
  }

  /** Frees the memory of an ended job. Its end can still be requested. */
  keepLastOnly(): void {
    while (this.#nextId - this.#oldestId > 1) this.#dropOldest();
  }

  #dropOldest(): void {
    const slot = this.#oldestId % keptEvents;
    this.#characters -= this.#slots[slot]?.length ?? 0;
    this.#slots[slot] = '';
    this.#oldestId += 1;
  }
}
