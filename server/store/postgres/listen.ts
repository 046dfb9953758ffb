// Listens for PostgreSQL notifications about appended events on a separate connection, which
// reconnects by itself. While a client here reads output of agents on other machines, it listens
// for that too.

import type pg from 'pg';
import type { PostgresPlace } from './database-url.ts';
import { clientConfig, type PoolOptions } from './pool.ts';
import { outputChannel } from '../feed/log-parts.ts';
import { eventsChannel } from './tables.ts';

const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** The next poll detects a connection that died silently. */
const lookEveryMs = 10_000;
const lookMaxMs = 5_000;

/**
 * `wake` is called for notifications, and after each interruption, because some may have been
 * missed.
 */
export class ListeningConnection {
  /** Resolves when it listens, or when the first try has failed. Further tries follow. */
  readonly ready: Promise<void>;
  readonly #place: PostgresPlace;
  readonly #options: PoolOptions;
  readonly #wake: () => void;
  readonly #first = Promise.withResolvers<void>();
  readonly #output = new OutputListeners();
  #client: pg.Client | null = null;
  #timer: NodeJS.Timeout | null = null;
  #pauseMs = firstPauseMs;
  #isClosed = false;

  constructor(place: PostgresPlace, options: PoolOptions, wake: () => void) {
    this.#place = place;
    this.#options = options;
    this.#wake = wake;
    this.ready = this.#first.promise;
    this.#begin();
  }

  /**
   * Calls back with the payload of notifications about agents' output. Returns a function that
   * unsubscribes.
   */
  onOutput(heard: (payload: string) => void): () => void {
    return this.#output.add(heard);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const last = this.#client;
    this.#client = null;
    this.#output.disconnected();
    this.#first.resolve();
    await last?.end().catch(() => undefined);
  }

  #begin(): void {
    const config = clientConfig(this.#place, this.#options);
    const client = new this.#place.Client({ ...config, query_timeout: lookMaxMs });
    this.#client = client;
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === outputChannel) this.#output.tell(payload);
      else this.#wake();
    });
    this.#listen(client).catch(() => this.#lose(client));
  }

  async #listen(client: pg.Client): Promise<void> {
    const ask = inTurn(client);
    await client.connect();
    await ask(`listen ${eventsChannel}`);
    if (this.#isClosed) return;
    this.#output.connected(ask);
    this.#pauseMs = firstPauseMs;
    this.#first.resolve();
    this.#wake();
    this.#later(lookEveryMs, () => this.#look(client, ask));
  }

  #look(client: pg.Client, ask: Ask): void {
    const alive = (): void => {
      // If a pooler swallows notifications, changes are detected at this slower interval.
      this.#wake();
      this.#later(lookEveryMs, () => this.#look(client, ask));
    };
    ask('select 1').then(alive, () => this.#lose(client));
  }

  #lose(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#output.disconnected();
    this.#first.resolve();
    void client.end().catch(() => undefined);
    this.#later(this.#pauseMs, () => this.#begin());
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }

  #later(ms: number, body: () => void): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = this.#isClosed ? null : setTimeout(body, ms).unref();
  }
}

type Ask = (statement: string) => Promise<unknown>;

/** Runs one statement at a time, as a connection requires. */
function inTurn(client: pg.Client): Ask {
  let last: Promise<unknown> = Promise.resolve();
  return (statement) => {
    const answer = last.then(() => client.query(statement));
    last = answer.catch(() => undefined);
    return answer;
  };
}

/**
 * Notifications about output are frequent, so it listens for them only while a reader is waiting.
 */
class OutputListeners {
  readonly #listeners = new Set<(payload: string) => void>();
  #ask: Ask | null = null;
  #isListening = false;

  tell(payload: string): void {
    for (const listener of this.#listeners) listener(payload);
    // Deferred, because a client that follows a log usually returns soon.
    if (this.#listeners.size === 0) this.#say('unlisten');
  }

  add(listener: (payload: string) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#isListening) this.#say('listen');
    return () => this.#listeners.delete(listener);
  }

  connected(ask: Ask): void {
    this.#ask = ask;
    if (this.#listeners.size > 0) this.#say('listen');
  }

  disconnected(): void {
    this.#ask = null;
    this.#isListening = false;
  }

  /** A reader that waits for output also polls, so no response is needed. */
  #say(word: 'listen' | 'unlisten'): void {
    if (this.#ask === null) return;
    this.#isListening = word === 'listen';
    this.#ask(`${word} ${outputChannel}`).catch(() => undefined);
  }
}
