// A network between a client and a worker that cuts connections: after a number of bytes, or all of them until it is repaired.

import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface BadNetwork {
  readonly url: string;
  /** Connections that were cut. */
  readonly cuts: () => number;
  /** Connections that were tried while it was broken. */
  readonly refused: () => number;
  /** Every connection is cut, and each new one at once. */
  breakDown(): void;
  repair(): void;
  close(): Promise<void>;
}

/** @param bytesOf after which the answer of a connection is cut, wherever that is; connections count from 1 */
export async function startBadNetwork(
  targetUrl: string,
  bytesOf: number | ((connection: number) => number),
): Promise<BadNetwork> {
  const { hostname, port } = new URL(targetUrl);
  const open = new Set<Socket>();
  let isBroken = false;
  let cuts = 0;
  let refused = 0;
  let connections = 0;
  const server = createServer((client) => {
    const target = connect(Number(port), hostname);
    connections += 1;
    const bytesMax = typeof bytesOf === 'number' ? bytesOf : bytesOf(connections);
    let bytes = 0;
    const cut = (): void => {
      client.resetAndDestroy();
      target.destroy();
    };
    for (const socket of [client, target]) {
      open.add(socket);
      socket.on('error', cut).on('close', () => {
        open.delete(socket);
        cut();
      });
    }
    if (isBroken) {
      refused += 1;
      cut();
      return;
    }
    client.pipe(target);
    target.on('data', (chunk: Buffer) => {
      const part = chunk.subarray(0, bytesMax - bytes);
      bytes += part.length;
      client.write(part);
      if (bytes < bytesMax) return;
      cuts += 1;
      target.destroy();
      client.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    cuts: () => cuts,
    refused: () => refused,
    breakDown: () => {
      isBroken = true;
      for (const socket of open) socket.destroy();
    },
    repair: () => {
      isBroken = false;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
