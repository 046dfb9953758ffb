// The same `Client` without a connection, using the handlers of this process. For requests that
// need no backend.

import { Refusal } from '../../core/failure.ts';
import { protocolVersion } from '../../protocol/api.ts';
import type { Answer, Client, Handlers, Params, RequestName } from '../../protocol/api.ts';
import { droverVersion } from '../../protocol/version.ts';
import { FeedPump, type Feed } from './feed.ts';
import { answerSubscribe } from './subscribe.ts';

/** The served requests: all but the two that belong to the connection itself. */
export type RequestHandlers = Omit<Handlers, 'hello' | 'subscribe'>;

/** No upper limit of a string, a list or a number is below this, and no lower one is above 1. */
const shortMax = 64;

/** Within this process, the compiler has checked all types. Only the limits remain. */
function mayBreakBound(value: unknown): boolean {
  if (typeof value === 'string') return value.length > shortMax || value.trim() !== value;
  if (typeof value === 'object' && value !== null) {
    const parts = Object.values(value);
    return parts.length > shortMax || parts.some(mayBreakBound);
  }
  return typeof value === 'number' && !(Number.isInteger(value) && value > 0 && value <= shortMax);
}

/**
 * Skips the schema if no limit can be broken, so that a command that shows a task does not load it.
 */
async function read<N extends RequestName>(name: N, params: Params<N>): Promise<Params<N>> {
  if (!mayBreakBound(params)) return params;
  const { readParams } = await import('../../protocol/requests/read.ts');
  const result = readParams(name, params);
  if (result.ok) return result.value;
  throw new Refusal('bad_request', result.error);
}

/** No other process notifies this one of an append, so the feed is polled at this interval. */
const localPollMs = 300;

export function localClient(
  handlers: RequestHandlers,
  feed: Feed,
  onClose: () => void = () => {},
): Client {
  const pumps = new Set<FeedPump>();
  let closed = false;
  const all: Handlers = {
    ...handlers,
    hello: async () => ({
      version: droverVersion,
      protocol: protocolVersion,
      pid: process.pid,
      root: '',
      leaving: false,
    }),
    subscribe: async ({ after }) =>
      (await answerSubscribe(feed, () => handlers.status({}), after)).answer,
  };
  return {
    async call<N extends RequestName>(name: N, params: Params<N>): Promise<Answer<N>> {
      if (closed) throw new Refusal('closed', 'The connection is closed.');
      return await all[name](await read(name, params));
    },
    async follow(after, onEvents, onEnd) {
      const pump = new FeedPump({
        feed,
        after,
        pollMs: localPollMs,
        staysAlive: true,
        deliver: async (events) => onEvents(events),
        onFailure: (error) => onEnd(error instanceof Error ? error.message : String(error)),
      });
      pumps.add(pump);
      return () => {
        pumps.delete(pump);
        pump.stop();
      };
    },
    close() {
      if (closed) return;
      closed = true;
      for (const pump of pumps) pump.stop();
      pumps.clear();
      onClose();
    },
  };
}
