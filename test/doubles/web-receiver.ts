// A receiver of posts on loopback: stores the posts, and answers as the test requests.

import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebReceiver {
  readonly url: string;
  readonly received: Received[];
  /** Sets the answer to the following posts; without it, each gets a 200. */
  answer: (response: ServerResponse, post: Received) => void;
  close(): Promise<void>;
}

export async function startWebReceiver(port = 0): Promise<WebReceiver> {
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('utf8');
      const post = { path: request.url ?? '', headers: request.headers, body };
      receiver.received.push(post);
      receiver.answer(response, post);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  const receiver: WebReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: (response) => response.end('{}'),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return receiver;
}
