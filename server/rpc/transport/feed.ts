// The numbered feed as the transport sees it, and the pump that carries it to one follower: in
// frames, never more than a few of them under way, and read again from the database by number
// instead of being kept in memory.

import type { EventView } from '../../protocol/api.ts';

export interface Feed {
  /** Events with a number above `after`, in order, at most `limit`. */
  read(after: number, limit: number): Promise<readonly EventView[]>;
  /** Calls back when something was appended; returns unsubscribe. */
  onAppend(listener: () => void): () => void;
  /** The number of the newest event; 0 if there is none. */
  lastSeq(): Promise<number>;
  /** The last event that was removed because of its age; without it, none is. */
  lastPruned?(): Promise<number>;
}

export interface FeedPumpOptions {
  readonly feed: Feed;
  readonly after: number;
  /** Resolves when the frame has left this process, which bounds the number of frames in flight. */
  readonly deliver: (events: readonly EventView[]) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  readonly frameMs?: number;
  /**
   * Another process may append without notifying this one, so the feed is polled at this interval.
   */
  readonly pollMs?: number;
  /**
   * The process stays for as long as it is followed: nothing else keeps a command that only
   * watches.
   */
  readonly staysAlive?: boolean;
  readonly outstandingMax?: number;
  readonly batch?: number;
}

const usual = { frameMs: 16, pollMs: 1_000, outstandingMax: 8, batch: 500 } as const;

/** Carries from its construction until it is stopped. */
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
    // Immediately after a pause: only events that come faster than frames must wait.
    const sinceMs = performance.now() - this.#framedMs;
    const waitMs = Math.max(0, this.#options.frameMs - sinceMs);
    setTimeout(() => void this.#frame().catch(this.#fail), waitMs);
  }

  /** A call, so that it is read again after each wait. */
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
