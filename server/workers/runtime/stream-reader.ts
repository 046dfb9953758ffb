// One client that follows a job's events. The command waits for a client that reads. A client that
// has read nothing for a second loses events and gets a notice of the gap, but always gets the end
// (worker contract §5.2, §9.1).

import type { ServerResponse } from 'node:http';
import { gapNotice, writeEvent } from '../wire.ts';
import type { EventRing } from './event-ring.ts';
import type { WorkerTimes } from './times.ts';

/** Small, so that even a slow reader shows progress. */
const batchCharacters = 16 * 1024;

export interface ReaderOptions {
  readonly ring: EventRing;
  readonly response: ServerResponse;
  /**
   * The id of the first requested event. If it is older than the oldest stored one, the reader gets
   * a notice of the gap.
   */
  readonly firstId: number;
  readonly isJobEnded: () => boolean;
  /** The reader has read something, has stalled, or has disconnected. */
  readonly onChange: () => void;
  readonly times: Pick<WorkerTimes, 'keepaliveMs' | 'stalledMs'>;
}

export class StreamReader {
  readonly #options: ReaderOptions;
  readonly #keepalive: NodeJS.Timeout;
  #stall: NodeJS.Timeout | null = null;
  #nextId: number;
  #isBlocked = false;
  #isStalled = false;
  #isClosed = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#nextId = options.firstId;
    const { response, times } = options;
    this.#keepalive = setInterval(() => {
      if (!this.#isBlocked) this.#write(': keepalive\n\n');
    }, times.keepaliveMs);
    response.on('drain', () => this.#onDrain());
    response.on('close', () => this.#onClose());
    // The connection broke; `close` follows.
    response.on('error', () => undefined);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether the event with this id must not be dropped yet. */
  needs(id: number): boolean {
    return !this.#isClosed && !this.#isStalled && this.#nextId <= id;
  }

  /** Sends available data until the connection accepts no more. */
  pump(): void {
    const { ring, response } = this.#options;
    while (!this.#isBlocked && !this.#isClosed && this.#nextId < ring.nextId) {
      let notice = '';
      if (this.#nextId < ring.oldestId) {
        notice = writeEvent(this.#nextId, { line: gapNotice, stream: 'stderr' });
        this.#nextId = ring.oldestId;
      }
      const batch = ring.read(this.#nextId, batchCharacters);
      this.#nextId = batch.nextId;
      this.#write(notice + batch.text);
      this.#keepalive.refresh();
    }
    if (this.#nextId >= ring.nextId && this.#options.isJobEnded()) response.end();
  }

  /** Closes the connection without a message, because the job is forgotten. */
  destroy(): void {
    this.#options.response.destroy();
  }

  #write(text: string): void {
    const { response } = this.#options;
    if (this.#isClosed || response.writableEnded || response.write(text)) return;
    this.#isBlocked = true;
    // If this process itself got no CPU time, the reader's progress shows in the next turn.
    this.#stall = setTimeout(
      () => setImmediate(() => this.#onStall()),
      this.#options.times.stalledMs,
    );
  }

  #onStall(): void {
    if (!this.#isBlocked || this.#isClosed) return;
    this.#isStalled = true;
    this.#options.onChange();
  }

  #onDrain(): void {
    if (this.#stall !== null) clearTimeout(this.#stall);
    this.#isBlocked = false;
    this.#isStalled = false;
    this.pump();
    this.#options.onChange();
  }

  #onClose(): void {
    this.#isClosed = true;
    clearInterval(this.#keepalive);
    if (this.#stall !== null) clearTimeout(this.#stall);
    this.#options.onChange();
  }
}
