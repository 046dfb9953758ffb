// Keeps the stories of the feed, so that the next query reads only new events. A search in the
// history queries after every few typed letters, and the page of an active run queries all the
// time.

import { StoryTeller } from '../../core/history/stories.ts';
import { eventView } from '../feed/feed.ts';
import type { Db } from '../rows/one-moment.ts';

const pageSize = 5_000;
/** Stories of a longer feed would need too much memory, so it is read completely each time. */
const keptEventsMax = 50_000;

interface Told {
  readonly teller: StoryTeller;
  readonly events: number;
}

export class ToldStories {
  #told: Told = { teller: new StoryTeller(), events: 0 };
  #last: Promise<unknown> = Promise.resolve();

  /** Reads everything in the feed. Later calls extend the same stories. */
  read(db: Db): Promise<StoryTeller> {
    // One call at a time, so that no event is counted twice.
    const next = this.#last.then(async () => this.#read(db));
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #read(db: Db): Promise<StoryTeller> {
    const { teller, events } = this.#told;
    // Retention removes events from the middle of the feed. The stories then start over.
    const isWhole = events === 0 || (await countUpTo(db, teller.seq)) === events;
    const told = await readOn(db, isWhole ? this.#told : fresh());
    this.#told = told.events <= keptEventsMax ? told : fresh();
    return told.teller;
  }
}

function fresh(): Told {
  return { teller: new StoryTeller(), events: 0 };
}

async function countUpTo(db: Db, seq: number): Promise<number> {
  const { count } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('seq', '<=', seq)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function readOn(db: Db, { teller, events }: Told): Promise<Told> {
  for (let told = events; ;) {
    const rows = await db
      .selectFrom('events')
      .selectAll()
      .where('seq', '>', teller.seq)
      .orderBy('seq')
      .limit(pageSize)
      .execute();
    for (const row of rows) teller.take(eventView(row));
    told += rows.length;
    if (rows.length < pageSize) return { teller, events: told };
  }
}
