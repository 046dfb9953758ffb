// Tells the other processes of the fleet at once that something happened, over LISTEN and NOTIFY.
//
// A lost announcement costs time, never work: every process also looks once a second. What is told
// is sent apart from the transaction it tells of, since PostgreSQL lets transactions that notify
// commit only one after another.

import type { Pool, PoolClient } from 'pg';

/** What has happened since the last telling. */
export interface News {
  /** Something is pending. */
  readonly work: boolean;
  /** A running workflow is to be ended. */
  readonly cancel: boolean;
  /**
   * These workflows have ended, so their queues have room. `all`: too many to name, or it is not
   * known which.
   */
  readonly ended: readonly string[] | 'all';
}

const everything: News = { work: true, cancel: true, ended: 'all' };
/** PostgreSQL takes up to 8,000 bytes. */
const payloadBytesMax = 7_000;
const endedNamedMax = 200;

const channel = 'drover_durable';
const reconnectDelaysMs = [100, 500, 1_000, 2_000, 5_000];

export interface AnnouncementsOptions {
  readonly pool: Pool;
  /** Our own announcements come back too; they are passed over. */
  readonly executorId: string;
  readonly onHeard: (news: News) => void;
  readonly onTrouble: (error: unknown) => void;
}

export class Announcements {
  readonly #options: AnnouncementsOptions;
  #client: PoolClient | null = null;
  #connecting: Promise<void> | null = null;
  #reconnect: NodeJS.Timeout | null = null;
  #failures = 0;
  #closed = false;
  #toTell: News | null = null;
  #telling: Promise<void> | null = null;

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
  }

  listen(): Promise<void> {
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  /** Returns at once. What is told while a telling is under way goes out with the next one. */
  tell(news: Partial<News>): void {
    if (this.#closed) return;
    this.#toTell = joined(this.#toTell, { work: false, cancel: false, ended: [], ...news });
    this.#telling ??= this.#tellAll();
  }

  async close(): Promise<void> {
    await this.#telling;
    this.#closed = true;
    if (this.#reconnect !== null) clearTimeout(this.#reconnect);
    await this.#connecting;
    this.#drop();
  }

  /** Never rejects. */
  async #connect(): Promise<void> {
    let client: PoolClient | null = null;
    try {
      client = await this.#options.pool.connect();
      const lost = (error?: unknown): void => this.#lose(error);
      client.once('error', lost);
      client.once('end', lost);
      client.on('notification', ({ payload }) => this.#hear(payload ?? ''));
      this.#client = client;
      await client.query(`listen ${channel}`);
      // What was told while nobody listened is heard now.
      if (this.#failures > 0) this.#options.onHeard(everything);
      this.#failures = 0;
    } catch (error) {
      this.#lose(error);
    }
  }

  #hear(payload: string): void {
    if (this.#closed) return;
    const told = newsOf(payload);
    if (told.from !== this.#options.executorId) this.#options.onHeard(told.news);
  }

  #lose(error: unknown): void {
    this.#drop();
    if (this.#closed || this.#reconnect !== null) return;
    this.#options.onTrouble(error ?? new Error('the connection that listens was ended'));
    const delayMs = reconnectDelaysMs[Math.min(this.#failures, reconnectDelaysMs.length - 1)];
    this.#failures += 1;
    this.#reconnect = setTimeout(() => {
      this.#reconnect = null;
      void this.listen();
    }, delayMs);
    this.#reconnect.unref();
  }

  #drop(): void {
    const client = this.#client;
    this.#client = null;
    if (client === null) return;
    client.removeAllListeners('notification');
    client.removeAllListeners('end');
    client.on('error', () => undefined); // It may still fail while it is closed.
    client.release(true);
  }

  /** Never rejects. */
  async #tellAll(): Promise<void> {
    // What is told in this turn of the event loop goes out together.
    await Promise.resolve();
    while (this.#toTell !== null) {
      const news = this.#toTell;
      this.#toTell = null;
      const payload = payloadOf(this.#options.executorId, news);
      try {
        await this.#options.pool.query('select pg_notify($1, $2)', [channel, payload]);
      } catch (error) {
        this.#options.onTrouble(error);
      }
    }
    this.#telling = null;
  }
}

function joined(before: News | null, news: News): News {
  if (before === null) return news;
  const many = before.ended.length + news.ended.length > endedNamedMax;
  const all = many || before.ended === 'all' || news.ended === 'all';
  return {
    work: before.work || news.work,
    cancel: before.cancel || news.cancel,
    ended: all ? 'all' : [...before.ended, ...news.ended],
  };
}

function payloadOf(from: string, news: News): string {
  const payload = JSON.stringify({ from, ...news });
  if (Buffer.byteLength(payload) <= payloadBytesMax) return payload;
  return JSON.stringify({ from, ...news, ended: 'all' });
}

/** Anybody may write to the channel; what is not ours says that something may have happened. */
function newsOf(payload: string): { readonly from: string; readonly news: News } {
  try {
    const told = JSON.parse(payload) as Partial<Record<string, unknown>> | null;
    const ended = told?.['ended'];
    return {
      from: String(told?.['from']),
      news: {
        work: told?.['work'] === true,
        cancel: told?.['cancel'] === true,
        ended: Array.isArray(ended) ? ended.map(String) : 'all',
      },
    };
  } catch {
    return { from: '', news: everything };
  }
}
