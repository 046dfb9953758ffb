// Follows the feed while a person watches: when the backend disconnects, continues from the next
// one that answers (another backend, or this process itself), at the number at which it stopped.

import type { Client, EventView } from '../protocol/api.ts';
import type { CommandContext } from './context.ts';

export interface Watcher {
  onEvents(events: readonly EventView[]): void;
  /** Another client answers from now on. */
  onClient(client: Client): void;
  onFailure(error: Error): void;
}

const connectTriesMax = 8;
const connectDelayMaxMs = 3000;

/** Resolves with stop once the feed is followed. */
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
