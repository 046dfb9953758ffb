// Hears from PostgreSQL that somebody has appended events, on one connection of its own that comes
// back by itself. While somebody here reads what agents of other machines write, it hears of that
// as well.

import type pg from 'pg';
import type { PostgresPlace } from './database-url.ts';
import { clientConfig, type PoolOptions } from './pool.ts';
import { outputChannel } from '../feed/log-parts.ts';
import { eventsChannel } from './tables.ts';

const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** A connection that is dead without a word is noticed at the next look. */
const lookEveryMs = 10_000;
const lookMaxMs = 5_000;

export interface Listening {
  /**
   * Resolves when the connection listens, or when the first try has failed (it goes on trying by
   * itself).
   */
  readonly ready: Promise<void>;
  /** Calls back with what notifications of agents' output say; returns unsubscribe. */
  readonly onOutput: (heard: (payload: string) => void) => () => void;
  readonly close: () => Promise<void>;
}

/**
 * `wake` is called for news, and after each gap in listening, since something may have been missed.
 */
export function listenForEvents(
  place: PostgresPlace,
  options: PoolOptions,
  wake: () => void,
): Listening {
  const first = Promise.withResolvers<void>();
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;
  let pauseMs = firstPauseMs;
  let isClosed = false;
  const output = new OutputListeners();
  const hear = ({ channel, payload = '' }: pg.Notification): void => {
    if (channel === outputChannel) output.tell(payload);
    else wake();
  };
  const later = (ms: number, body: () => void): void => {
    if (timer !== null) clearTimeout(timer);
    timer = isClosed ? null : setTimeout(body, ms).unref();
  };
  const lose = (lost: pg.Client): void => {
    if (client !== lost) return;
    client = null;
    output.disconnected();
    first.resolve();
    void lost.end().catch(() => undefined);
    later(pauseMs, begin);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  };
  const look = (looked: pg.Client, ask: Ask): void => {
    const alive = (): void => {
      // Where a pooler swallows notifications, this is the slow way to the news.
      wake();
      later(lookEveryMs, () => look(looked, ask));
    };
    ask('select 1').then(alive, () => lose(looked));
  };
  const begin = (): void => {
    const made = new place.Client({ ...clientConfig(place, options), query_timeout: lookMaxMs });
    const ask = inTurn(made);
    client = made;
    made.on('error', () => lose(made));
    made.on('end', () => lose(made));
    made.on('notification', hear);
    const listen = async (): Promise<void> => {
      await made.connect();
      await ask(`listen ${eventsChannel}`);
      if (isClosed) return;
      output.connected(ask);
      pauseMs = firstPauseMs;
      first.resolve();
      wake();
      later(lookEveryMs, () => look(made, ask));
    };
    listen().catch(() => lose(made));
  };
  begin();
  return {
    ready: first.promise,
    onOutput: (heard) => output.add(heard),
    close: async () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      const last = client;
      client = null;
      output.disconnected();
      first.resolve();
      await last?.end().catch(() => undefined);
    },
  };
}

type Ask = (statement: string) => Promise<unknown>;

/** One statement after the other, as a connection wants them. */
function inTurn(client: pg.Client): Ask {
  let last: Promise<unknown> = Promise.resolve();
  return (statement) => {
    const answer = last.then(() => client.query(statement));
    last = answer.catch(() => undefined);
    return answer;
  };
}

/** Of agents' output there is much: it is listened to only while somebody wants to hear of it. */
class OutputListeners {
  readonly #listeners = new Set<(payload: string) => void>();
  #ask: Ask | null = null;
  #isListening = false;

  tell(payload: string): void {
    for (const listener of this.#listeners) listener(payload);
    // Not as soon as the last one has gone: whoever follows a log comes back in a moment.
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

  /** Whoever waits for output looks by itself from time to time: no answer is needed. */
  #say(word: 'listen' | 'unlisten'): void {
    if (this.#ask === null) return;
    this.#isListening = word === 'listen';
    this.#ask(`${word} ${outputChannel}`).catch(() => undefined);
  }
}
