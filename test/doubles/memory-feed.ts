// An in-memory feed: the second implementation of the transport's view of the store.

import type { EventView } from '../../server/protocol/api.ts';
import type { Feed } from '../../server/rpc/transport/feed.ts';

export interface MemoryFeed extends Feed {
  readonly events: EventView[];
  /** Number of reads. */
  reads: number;
  append(...events: readonly Partial<EventView>[]): void;
  /** Resolves once there is a listener. */
  readonly listened: Promise<void>;
}

export function memoryFeed(): MemoryFeed {
  const events: EventView[] = [];
  const listeners = new Set<() => void>();
  const listened = Promise.withResolvers<void>();
  const feed: MemoryFeed = {
    events,
    listened: listened.promise,
    reads: 0,
    append(...added) {
      for (const event of added) events.push(eventView({ seq: events.length + 1, ...event }));
      for (const listener of listeners) listener();
    },
    async read(after, limit) {
      feed.reads += 1;
      return events.filter((event) => event.seq > after).slice(0, limit);
    },
    onAppend(listener) {
      listeners.add(listener);
      listened.resolve();
      return () => listeners.delete(listener);
    },
    async lastSeq() {
      return events.at(-1)?.seq ?? 0;
    },
  };
  return feed;
}

export function eventView(event: Partial<EventView> & { readonly seq: number }): EventView {
  return {
    id: `event-${event.seq}`,
    type: 'task.started',
    timestamp: 1_700_000_000 + event.seq,
    at_ms: (1_700_000_000 + event.seq) * 1000,
    task_id: null,
    epic_id: null,
    run_id: null,
    data: {},
    ...event,
  };
}
