// The feed as it was last retold, so that the next query reads only new events: a search in the
// history asks after every few letters, and the page of an active run asks all the time.

import { StoryTeller } from '../../core/history/stories.ts';
import { eventView } from '../feed/feed.ts';
import type { Db } from '../rows/one-moment.ts';

const pageSize = 5_000;
/** Stories of a longer feed would fill the memory; it is retold each time. */
const keptEventsMax = 50_000;

interface Told {
  readonly teller: StoryTeller;
  readonly events: number;
}

export class ToldStories {
  #told: Told = { teller: new StoryTeller(), events: 0 };
  #last: Promise<unknown> = Promise.resolve();

  /** Everything in the feed. A later question adds to the same stories. */
  read(db: Db): Promise<StoryTeller> {
    // One at a time, so that no event counts twice.
    const next = this.#last.then(async () => this.#read(db));
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #read(db: Db): Promise<StoryTeller> {
    const { teller, events } = this.#told;
    // Retention removes events from the middle: then it starts over.
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
