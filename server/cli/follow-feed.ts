// Follows the feed for a watching user. If the backend disconnects, continues at the same number
// with the next one that responds (another backend, or this process).

import type { Client, EventView } from '../protocol/api.ts';
import type { CommandContext } from './context.ts';

export interface Watcher {
  onEvents(events: readonly EventView[]): void;
  /** Another client responds from now on. */
  onClient(client: Client): void;
  onFailure(error: Error): void;
}

const connectTriesMax = 8;
const connectDelayMaxMs = 3000;

/** Resolves, when the feed is being followed, with a function that stops it. */
export async function followFeed(
  context: CommandContext,
  first: Client,
  after: number,
  watcher: Watcher,
): Promise<() => void> {
  const follower = new FeedFollower(context, after, watcher);
  await follower.attach(first);
  return () => follower.stop();
}

class FeedFollower {
  readonly #context: CommandContext;
  readonly #watcher: Watcher;
  #last: number;
  #isStopped = false;
  #unfollow: () => void = () => {};

  constructor(context: CommandContext, after: number, watcher: Watcher) {
    this.#context = context;
    this.#watcher = watcher;
    this.#last = after;
  }

  async attach(client: Client): Promise<void> {
    this.#unfollow = await client.follow(
      this.#last,
      (events) => this.#take(events),
      () => {
        if (!this.#isStopped) this.#attachAgain().catch((error: unknown) => this.#fail(error));
      },
    );
    if (this.#isStopped) this.#unfollow();
  }

  stop(): void {
    this.#isStopped = true;
    this.#unfollow();
  }

  #take(events: readonly EventView[]): void {
    const fresh = events.filter((event) => event.seq > this.#last);
    this.#last = fresh.at(-1)?.seq ?? this.#last;
    if (!this.#isStopped && fresh.length > 0) this.#watcher.onEvents(fresh);
  }

  async #attachAgain(): Promise<void> {
    const { surroundings } = this.#context;
    for (let tries = 1; !this.#isStopped; tries += 1) {
      await surroundings.sleep(Math.min(connectDelayMaxMs, 50 * 2 ** tries));
      try {
        const client = await this.#context.client('data');
        this.#watcher.onClient(client);
        await this.attach(client);
        return;
      } catch (error) {
        if (tries >= connectTriesMax) throw error;
      }
    }
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.#watcher.onFailure(error instanceof Error ? error : new Error(String(error)));
  }
}
