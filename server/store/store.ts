// The store: one database, the guarded transition and the feed.

import { type Expression, type ExpressionBuilder, type Kysely, sql, type SqlBool } from 'kysely';
import type { EventView } from '../protocol/api.ts';
import { isByActor } from './feed/actor.ts';
import { appendEvent, eventView, type StoreSources } from './feed/feed.ts';
import type { Feed, Reads, Store, Tx } from './port.ts';
import type { StoreTables } from './schema/tables.ts';
import { transition } from './status/transition.ts';

/** Maximum number of events per read of the feed. */
const feedPageMax = 10_000;

export function createStore(db: Kysely<StoreTables>, given: StoreSources): Store {
  return createSharedStore(db, given).store;
}

export interface SharedStore {
  readonly store: Store;
  /** Notifies that another process may have appended events. */
  readonly tell: () => void;
}

/** A store on a database that other processes also write to. */
export function createSharedStore(db: Kysely<StoreTables>, given: StoreSources): SharedStore {
  let appended = false;
  const sources = { ...given, appended: () => (appended = true) };
  const feed = createFeed(db, () => {
    const news = appended;
    appended = false;
    return news;
  });
  const store: Store = {
    db: db as Reads,
    sources,
    feed,
    transaction: async (body) => {
      const result = await db.transaction().execute((tx) => body(tx as Tx));
      feed.poke();
      return result;
    },
    transition: (tx, change) => transition(tx, sources, change),
    append: (tx, event) => appendEvent(tx, sources, event),
  };
  const tell = (): void => {
    appended = true;
    feed.poke();
  };
  return { store, tell };
}

/**
 * Matches events of the task itself, and of gates that tested its work alone or together with other
 * work.
 */
function ofTask(id: string): (eb: ExpressionBuilder<StoreTables, 'events'>) => Expression<SqlBool> {
  // `like` is not used, because it ignores case and would confuse two IDs.
  const named = sql<SqlBool>`replace(data, ${JSON.stringify(id)}, '') <> data`;
  return (eb) =>
    eb.or([eb('task_id', '=', id), eb.and([eb('type', 'in', [...gateEventTypes]), named])]);
}

/** Event types that name their tasks in `task_ids`. */
const gateEventTypes: readonly string[] = ['gate.passed', 'gate.failed'];

function createFeed(db: Kysely<StoreTables>, takeNews: () => boolean): Feed {
  const listeners = new Set<() => void>();
  let poked = false;
  const tell = (): void => {
    poked = false;
    for (const listener of listeners) listener();
  };
  return {
    read: async (options): Promise<readonly EventView[]> => {
      let query = db
        .selectFrom('events')
        .selectAll()
        .where('seq', '>', options.after ?? 0)
        .orderBy('seq')
        .limit(Math.min(options.limit ?? feedPageMax, feedPageMax));
      if (options.type !== undefined) query = query.where('type', '=', options.type);
      if (options.by !== undefined) query = query.where(isByActor(options.by));
      if (options.task !== undefined) query = query.where(ofTask(options.task));
      return (await query.execute()).map(eventView);
    },
    lastSeq: async () => {
      const row = await db
        .selectFrom('events')
        .select((eb) => eb.fn.max('seq').as('seq'))
        .executeTakeFirst();
      return row?.seq ?? 0;
    },
    onAppend: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    poke: () => {
      if (!takeNews() || poked) return;
      poked = true;
      queueMicrotask(tell);
    },
  };
}
