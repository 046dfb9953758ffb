// Searches the transcripts for the text in the history's search field: the newest attempts at once,
// older ones when a person requests them.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type {
  TranscriptHit,
  TranscriptSearch,
} from '../../server/core/history/transcript-search.ts';
import type { Host } from '../shared/host.ts';

/** More rows than a person reads. */
const hitsMax = 1_000;

export class TranscriptReader implements ReactiveController {
  readonly #component: ReactiveControllerHost;
  readonly #host: Host;
  words = '';
  hits: readonly TranscriptHit[] = [];
  searched = 0;
  attempts = 0;
  isSearching = false;
  failed = '';
  #next: string | null = null;

  constructor(component: ReactiveControllerHost, host: Host) {
    this.#component = component;
    this.#host = host;
    component.addController(this);
  }

  hostConnected(): void {}

  /** Number of attempts that are not searched yet. */
  get left(): number {
    const isMore = this.#next !== null && this.hits.length < hitsMax;
    return isMore ? Math.max(0, this.attempts - this.searched) : 0;
  }

  show(words: string): void {
    if (words === this.words) return;
    this.words = words;
    this.hits = [];
    this.searched = 0;
    this.attempts = 0;
    this.#next = null;
    this.failed = '';
    this.isSearching = false;
    if (words.trim() !== '') void this.#search(null);
  }

  more(): void {
    if (this.#next !== null && !this.isSearching) void this.#search(this.#next);
  }

  async #search(after: string | null): Promise<void> {
    const { words } = this;
    this.isSearching = true;
    this.#component.requestUpdate();
    const request = { words, ...(after === null ? {} : { after }) };
    try {
      const found = await this.#host.backend('transcripts.search', request);
      // The search terms have changed in the meantime.
      if (this.words === words) this.#take(found);
    } catch (error) {
      if (this.words !== words) return;
      this.failed = error instanceof Error ? error.message : String(error);
    }
    if (this.words !== words) return;
    this.isSearching = false;
    this.#component.requestUpdate();
  }

  #take({ hits, searched, attempts, next }: TranscriptSearch): void {
    this.hits = [...this.hits, ...hits];
    this.searched += searched;
    this.attempts = attempts;
    this.#next = next;
    this.failed = '';
  }
}
