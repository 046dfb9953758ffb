// Notifies the fleet's other processes at once, by LISTEN and NOTIFY.
//
// A lost notification costs time but never work, because every process also polls once a second.
// Notifications are sent outside of the transaction that causes them, because PostgreSQL commits
// transactions with notifications one at a time.

import type { Pool, PoolClient } from 'pg';

/** The events since the last announcement. */
export interface News {
  /** A workflow is pending. */
  readonly work: boolean;
  /** A running workflow must be stopped. */
  readonly cancel: boolean;
  /**
   * Workflows that have ended, so that their queues have room. `all`: too many to list, or unknown.
   */
  readonly ended: readonly string[] | 'all';
}

const everything: News = { work: true, cancel: true, ended: 'all' };
/** PostgreSQL accepts up to 8,000 bytes. */
const payloadBytesMax = 7_000;
const endedNamedMax = 200;

const channel = 'drover_durable';
const reconnectDelaysMs = [100, 500, 1_000, 2_000, 5_000];

export interface AnnouncementsOptions {
  readonly pool: Pool;
  /** Our own announcements are also received; they are skipped. */
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

  /** Returns at once. Messages that arrive during a send are sent with the next one. */
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
      // Handles events that were missed while the connection was down.
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
    client.on('error', () => undefined); // It may still fail while it is being closed.
    client.release(true);
  }

  /** Never rejects. */
  async #tellAll(): Promise<void> {
    // Messages of the same turn of the event loop are sent together.
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

/**
 * Any client may write to the channel. A foreign message only means that something may have
 * happened.
 */
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
