// The live view of a run on a terminal: redrawn at most ten times a second, from snapshots read at
// most four times a second, and only after events. The clock ticks once a second.

import type { Client, RunView, StatusSnapshot } from '../../protocol/api.ts';
import type { CommandContext } from '../context.ts';
import { DurationBook, liveText } from './live-text.ts';
import { addedText } from './event-line.ts';
import { createScreen } from './screen.ts';
import type { RunDisplay } from '../run-display.ts';

const drawEveryMs = 100;
const readEveryMs = 250;
const tickMs = 1000;
const noticeMs = 10_000;

export function liveDisplay(context: CommandContext, client: Client, run: RunView): RunDisplay {
  return new LiveDisplay(context, client, run);
}

class LiveDisplay implements RunDisplay {
  readonly #context: CommandContext;
  readonly #scope: { readonly epic?: string };
  readonly #screen;
  readonly #book = new DurationBook();
  readonly #tick: NodeJS.Timeout;
  #client: Client;
  #snapshot: StatusSnapshot | null = null;
  #notice: { readonly text: string; readonly untilMs: number } | null = null;
  #reading: 'no' | 'yes' | 'again' = 'no';
  #drawTimer: NodeJS.Timeout | null = null;
  #isDone = false;

  constructor(context: CommandContext, client: Client, run: RunView) {
    this.#context = context;
    this.#client = client;
    this.#scope = run.epic_id === null ? {} : { epic: run.epic_id };
    this.#screen = createScreen(context.surroundings.stdout);
    this.#tick = setInterval(() => this.#drawSoon(), tickMs);
    this.#read();
  }

  onEvents(events: Parameters<RunDisplay['onEvents']>[0]): void {
    this.#book.learn(events);
    const added = events.findLast(({ type }) => type === 'agent.added');
    if (added !== undefined)
      this.onNotice(`${added.task_id ?? 'An agent'} added ${addedText(added.data)}`);
    this.#read();
  }

  onNotice(text: string): void {
    this.#notice = { text, untilMs: this.#context.surroundings.nowMs() + noticeMs };
    this.#drawSoon();
  }

  onClient(client: Client): void {
    this.#client = client;
    this.#read();
  }

  /** The terminal keeps the final state, not the one before the last event. */
  async done(): Promise<void> {
    clearInterval(this.#tick);
    if (this.#drawTimer !== null) clearTimeout(this.#drawTimer);
    this.#isDone = true;
    this.#notice = null;
    try {
      this.#snapshot = await this.#client.call('status', this.#scope);
    } catch {
      // The backend is gone, so the last known state stays visible.
    }
    this.#draw();
    this.#screen.done();
  }

  #read(): void {
    if (this.#isDone) return;
    if (this.#reading !== 'no') {
      this.#reading = 'again';
      return;
    }
    this.#reading = 'yes';
    this.#client
      .call('status', this.#scope)
      .then((snapshot) => {
        if (this.#isDone) return;
        this.#snapshot = snapshot;
        this.#drawSoon();
      })
      .catch(() => {}) // the follower detects that the backend is gone, and connects to another one
      .finally(() => {
        setTimeout(() => {
          const again = this.#reading === 'again';
          this.#reading = 'no';
          if (again) this.#read();
        }, readEveryMs);
      });
  }

  #drawSoon(): void {
    this.#drawTimer ??= setTimeout(() => {
      this.#drawTimer = null;
      this.#draw();
    }, drawEveryMs);
  }

  #draw(): void {
    if (this.#snapshot === null) return;
    const { surroundings, color } = this.#context;
    const { columns, rows } = surroundings.stdout;
    const nowMs = surroundings.nowMs();
    const notice = this.#notice !== null && nowMs < this.#notice.untilMs ? this.#notice.text : null;
    const text = liveText(this.#snapshot, {
      width: columns,
      rows,
      color,
      nowMs,
      durationsMs: this.#book.all,
      notice,
    });
    this.#screen.draw(text);
  }
}
