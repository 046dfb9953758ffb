// Sends board changes together with a batch of the feed, so that panels need not request them.

import type { EventView, Notifications } from '../../protocol/api.ts';
import type { BoardChanges } from '../../protocol/panel-views.ts';

/**
 * Batches must be passed in order. `after`: the number of the client's board. Omits changes that
 * cannot be read; the client then requests them.
 */
export function boardFeed(
  readChanges: (after: number) => Promise<BoardChanges>,
  after: number,
  send: (batch: Notifications['events']) => Promise<void>,
): (events: readonly EventView[]) => Promise<void> {
  let told = after;
  let last: Promise<unknown> = Promise.resolve();
  const next = async (events: readonly EventView[]): Promise<Notifications['events']> => {
    if ((events.at(-1)?.seq ?? 0) <= told) return { events };
    const changes = await readChanges(told).catch(() => null);
    if (changes === null) return { events };
    told = changes.seq;
    return { events, changes };
  };
  return (events) => {
    const batch = last.then(() => next(events));
    last = batch;
    return batch.then(send);
  };
}
