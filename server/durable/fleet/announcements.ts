// Tells the other processes of the fleet at once that something happened, over LISTEN and NOTIFY.
//
// A lost announcement costs time, never work: every process also looks once a second. What is told is sent apart from the
// transaction it tells of, since PostgreSQL lets transactions that notify commit only one after another.

import type { Pool, PoolClient } from 'pg';

/** `work`: something is pending. `ended`: a workflow has ended, so its queue has room. `cancel`: one is to be ended. */
export type Topic = 'work' | 'ended' | 'cancel';
const topics: readonly Topic[] = ['work', 'ended', 'cancel'];

const channel = 'drover_durable';
const reconnectDelaysMs = [100, 500, 1_000, 2_000, 5_000];

export interface AnnouncementsOptions {
  readonly pool: Pool;
  /** Our own announcements come back too; they are passed over. */
  readonly executorId: string;
  readonly onHeard: (heard: ReadonlySet<Topic>) => void;
  readonly onTrouble: (error: unknown) => void;
}

export class Announcements {
  readonly #options: AnnouncementsOptions;
  #client: PoolClient | null = null;
  #connecting: Promise<void> | null = null;
  #reconnect: NodeJS.Timeout | null = null;
  #failures = 0;
  #closed = false;
  readonly #toTell = new Set<Topic>();
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
  tell(topic: Topic): void {
    if (this.#closed) return;
    this.#toTell.add(topic);
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
      if (this.#failures > 0) this.#options.onHeard(new Set(topics));
      this.#failures = 0;
    } catch (error) {
      this.#lose(error);
    }
  }

  #hear(payload: string): void {
    const [from, ...told] = payload.split(' ');
    if (from === this.#options.executorId || this.#closed) return;
    this.#options.onHeard(new Set(topics.filter((topic) => told.includes(topic))));
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
    while (this.#toTell.size > 0) {
      const told = [...this.#toTell];
      this.#toTell.clear();
      const payload = [this.#options.executorId, ...told].join(' ');
      try {
        await this.#options.pool.query('select pg_notify($1, $2)', [channel, payload]);
      } catch (error) {
        this.#options.onTrouble(error);
      }
    }
    this.#telling = null;
  }
}
