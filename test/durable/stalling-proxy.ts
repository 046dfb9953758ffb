// A connection to a server that can be blocked: nothing gets through and no error is reported, as
// with an unplugged cable.

import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';

export interface StallingProxy {
  readonly port: number;
  readonly cut: () => void;
  readonly mend: () => void;
  /** Only for new connections: the old ones silently stay dead. */
  readonly mendForNew: () => void;
  readonly close: () => Promise<void>;
}

export async function startStallingProxy(toPort: number): Promise<StallingProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((inward) => {
    const outward = createConnection({ host: '127.0.0.1', port: toPort });
    for (const [from, to] of [
      [inward, outward],
      [outward, inward],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => void to.write(data));
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (isCut) from.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    mend: () => {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    mendForNew: () => {
      isCut = false;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
