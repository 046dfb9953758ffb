// Hears from PostgreSQL that somebody has appended events, on one connection of its own that comes back by itself. While
// somebody here reads what agents of other machines write, it hears of that as well.

import pg from 'pg';
import type { PostgresPlace } from './place.ts';
import { clientConfig, type PoolOptions } from './pool.ts';
import { outputChannel } from '../log-parts.ts';
import { eventsChannel } from './tables.ts';

const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** A connection that is dead without a word is noticed at the next look. */
const lookEveryMs = 10_000;
const lookMaxMs = 5_000;

export interface Listening {
  /** Resolves when the connection listens, or when the first try has failed (it goes on trying by itself). */
  readonly ready: Promise<void>;
  /** Calls back with what notifications of agents' output say; returns unsubscribe. */
  readonly onOutput: (heard: (payload: string) => void) => () => void;
  readonly close: () => Promise<void>;
}

/** `wake` is called for news, and after each gap in listening, since something may have been missed. */
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
  const listeners = new Set<(payload: string) => void>();

  /** Whoever waits for output looks by itself from time to time: no answer is needed. */
  const hearOutput = (): void => {
    if (client === null) return;
    const word = listeners.size > 0 ? 'listen' : 'unlisten';
    client.query(`${word} ${outputChannel}`).catch(() => undefined);
  };
  const hear = ({ channel, payload = '' }: pg.Notification): void => {
    if (channel === outputChannel) for (const listener of listeners) listener(payload);
    else wake();
  };
  const later = (ms: number, body: () => void): void => {
    if (timer !== null) clearTimeout(timer);
    timer = isClosed ? null : setTimeout(body, ms).unref();
  };
  const lose = (lost: pg.Client): void => {
    if (client !== lost) return;
    client = null;
    first.resolve();
    void lost.end().catch(() => undefined);
    later(pauseMs, begin);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  };
  const look = (looked: pg.Client): void => {
    const alive = (): void => {
      // Poolers that share a connection between clients swallow notifications: then this is the slow way to the news.
      wake();
      later(lookEveryMs, () => look(looked));
    };
    looked.query('select 1').then(alive, () => lose(looked));
  };
  const begin = (): void => {
    const made = new pg.Client({ ...clientConfig(place, options), query_timeout: lookMaxMs });
    client = made;
    made.on('error', () => lose(made));
    made.on('end', () => lose(made));
    made.on('notification', hear);
    const listen = async (): Promise<void> => {
      await made.connect();
      await made.query(`listen ${eventsChannel}`);
      if (isClosed) return;
      if (listeners.size > 0) hearOutput();
      pauseMs = firstPauseMs;
      first.resolve();
      wake();
      later(lookEveryMs, () => look(made));
    };
    listen().catch(() => lose(made));
  };
  begin();
  return {
    ready: first.promise,
    onOutput: (heard) => {
      if (listeners.add(heard).size === 1) hearOutput();
      return () => {
        if (listeners.delete(heard) && listeners.size === 0) hearOutput();
      };
    },
    close: async () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      const last = client;
      client = null;
      first.resolve();
      await last?.end().catch(() => undefined);
    },
  };
}
