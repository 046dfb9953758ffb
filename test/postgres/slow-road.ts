// A connection to a server with latency: each piece arrives later by this time, in both directions.
// It simulates distance, not low bandwidth: pieces travel one behind the other.

import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';

export interface SlowRoad {
  readonly port: number;
  /** There and back. */
  setDelay(ms: number): void;
  close(): Promise<void>;
}

/** Traffic at the client's end of the connection. */
export type RoadListener = (connection: number, from: 'client' | 'server', data: Buffer) => void;

export async function startSlowRoad(
  to: { readonly host: string; readonly port: number },
  delayMs: number,
  host = '127.0.0.1',
  heard: RoadListener = () => undefined,
): Promise<SlowRoad> {
  const sockets = new Set<Socket>();
  let oneWayMs = delayMs / 2;
  let connections = 0;
  const server = createServer({ noDelay: true }, (inward) => {
    const outward = createConnection({ ...to, noDelay: true });
    connections += 1;
    const connection = connections;
    carry(inward, outward, (data) => {
      heard(connection, 'client', data);
      return () => outward.write(data);
    });
    carry(outward, inward, (data) => () => {
      heard(connection, 'server', data);
      inward.write(data);
    });
  });
  const carry = (from: Socket, onward: Socket, take: (data: Buffer) => () => unknown): void => {
    sockets.add(from);
    const later = (body: () => unknown): void => void setTimeout(body, oneWayMs);
    from.on('data', (data) => later(take(data)));
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      later(() => onward.destroy());
    });
  };
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the road has no port');
  return {
    port: address.port,
    setDelay: (ms) => void (oneWayMs = ms / 2),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
