// The numbered feed as the transport sees it, and the pump that sends it to one follower: in
// frames, with only a few in flight, and read from the database by number instead of being kept in
// memory.

import type { EventView } from '../../protocol/api.ts';

export interface Feed {
  /** Events with a number above `after`, in order, at most `limit`. */
  read(after: number, limit: number): Promise<readonly EventView[]>;
  /** Calls back when an event was appended. Returns a function that unsubscribes. */
  onAppend(listener: () => void): () => void;
  /** The number of the latest event; 0 for an empty feed. */
  lastSeq(): Promise<number>;
  /** The last event that was removed because of its age. Absent if events are never removed. */
  lastPruned?(): Promise<number>;
}

export interface FeedPumpOptions {
  readonly feed: Feed;
  readonly after: number;
  /** Resolves when the frame has left this process, which limits the number of frames in flight. */
  readonly deliver: (events: readonly EventView[]) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  readonly frameMs?: number;
  /**
   * The feed is polled at this interval, because another process may append without notifying this
   * one.
   */
  readonly pollMs?: number;
  /**
   * If true, following keeps the process alive, because nothing else does for a command that only
   * watches.
   */
  readonly staysAlive?: boolean;
  readonly outstandingMax?: number;
  readonly batch?: number;
}

const usual = { frameMs: 16, pollMs: 1_000, outstandingMax: 8, batch: 500 } as const;

/** Sends events from its construction until it is stopped. */
export class FeedPump {
  readonly #options: FeedPumpOptions & Required<Pick<FeedPumpOptions, keyof typeof usual>>;
  readonly #unsubscribe: () => void;
  readonly #poll: NodeJS.Timeout;
  #sent: number;
  #outstanding = 0;
  #phase: 'idle' | 'scheduled' | 'reading' | 'stopped' = 'idle';
  #isAgainNeeded = false;
  #framedMs = Number.NEGATIVE_INFINITY;

  constructor(options: FeedPumpOptions) {
    this.#options = { ...usual, ...options };
    this.#sent = options.after;
    this.#unsubscribe = options.feed.onAppend(() => this.#schedule());
    this.#poll = setInterval(() => this.#schedule(), this.#options.pollMs);
    if (options.staysAlive !== true) this.#poll.unref();
    this.#schedule();
  }

  stop(): void {
    this.#phase = 'stopped';
    clearInterval(this.#poll);
    this.#unsubscribe();
  }

  readonly #fail = (error: unknown): void => {
    if (this.#isStopped()) return;
    this.stop();
    this.#options.onFailure(error);
  };

  #schedule(): void {
    if (this.#phase === 'reading') this.#isAgainNeeded = true;
    if (this.#phase !== 'idle') return;
    this.#phase = 'scheduled';
    // The first frame after a pause is sent at once. Only events that arrive faster than frames
    // wait.
    const sinceMs = performance.now() - this.#framedMs;
    const waitMs = Math.max(0, this.#options.frameMs - sinceMs);
    setTimeout(() => void this.#frame().catch(this.#fail), waitMs);
  }

  /** A method, so that it is evaluated again after each wait. */
  #isStopped(): boolean {
    return this.#phase === 'stopped';
  }

  async #frame(): Promise<void> {
    if (this.#isStopped()) return;
    this.#phase = 'idle';
    if (this.#outstanding >= this.#options.outstandingMax) {
      this.#isAgainNeeded = true; // the caller that frees a slot schedules the next frame
      return;
    }
    this.#phase = 'reading';
    this.#framedMs = performance.now();
    this.#isAgainNeeded = false;
    const { feed, batch } = this.#options;
    const events = await feed.read(this.#sent, batch);
    if (this.#isStopped()) return;
    this.#phase = 'idle';
    const last = events.at(-1);
    if (last !== undefined) {
      this.#sent = last.seq;
      this.#deliver(events);
    }
    if (this.#isAgainNeeded || events.length >= batch) this.#schedule();
  }

  #deliver(events: readonly EventView[]): void {
    this.#outstanding += 1;
    this.#options.deliver(events).then(() => {
      this.#outstanding -= 1;
      const isPlaceFree = this.#outstanding === this.#options.outstandingMax - 1;
      if (this.#isAgainNeeded || isPlaceFree) this.#schedule();
    }, this.#fail);
  }
}
