// Following the feed for as long as somebody watches: when the backend goes, by whoever answers
// next (another backend, or this process itself), from the number where it stopped.

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
  let last = after;
  let isStopped = false;
  let unfollow: () => void = () => {};

  const attach = async (client: Client): Promise<void> => {
    unfollow = await client.follow(
      last,
      (events) => {
        const fresh = events.filter((event) => event.seq > last);
        last = fresh.at(-1)?.seq ?? last;
        if (!isStopped && fresh.length > 0) watcher.onEvents(fresh);
      },
      () => {
        if (!isStopped) attachAgain().catch(fail);
      },
    );
    if (isStopped) unfollow();
  };
  const attachAgain = async (): Promise<void> => {
    for (let tries = 1; !isStopped; tries += 1) {
      await context.surroundings.sleep(Math.min(connectDelayMaxMs, 50 * 2 ** tries));
      try {
        const client = await context.client('data');
        watcher.onClient(client);
        await attach(client);
        return;
      } catch (error) {
        if (tries >= connectTriesMax) throw error;
      }
    }
  };
  const fail = (error: unknown): void => {
    if (!isStopped) watcher.onFailure(error instanceof Error ? error : new Error(String(error)));
  };

  await attach(first);
  return () => {
    isStopped = true;
    unfollow();
  };
}
