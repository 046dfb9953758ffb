// A port for a test server that may be stopped and restarted.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports that no system uses for outgoing connections (Linux starts at 32768, macOS and Windows at
 * 49152), because another connection could take one of those while its server is stopped.
 */
const lowest = 20_000;
const highest = 32_000;
const triesMax = 100;

export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = randomInt(lowest, highest);
    if (await isFree(port, host)) return port;
  }
  throw new Error(`no port of ${host} is free`);
}

async function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
