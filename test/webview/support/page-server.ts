// Serves webview pages on loopback with the very page, policy and nonce that the extension gives VS Code.

import { randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { page } from '../../../extension/webviews/html.ts';
import { bundleOf, iconFont } from './bundle.ts';

export interface PageServer {
  /** The address of the page around a webview's entry. */
  urlOf(entry: string, subject: unknown, first?: unknown): string;
  close(): Promise<void>;
}

export async function startPageServer(): Promise<PageServer> {
  const server = createServer((request, response) => {
    respond(request.url ?? '/', origin, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  const origin = `http://127.0.0.1:${address.port}`;
  return {
    urlOf: (entry, subject, first = null) => {
      const json = { subject: JSON.stringify(subject), first: JSON.stringify(first) };
      const query = new URLSearchParams({ entry, ...json });
      return `${origin}/page?${query.toString()}`;
    },
    close: () => close(server),
  };
}

async function respond(path: string, origin: string, response: ServerResponse): Promise<void> {
  const url = new URL(path, origin);
  const send = (type: string, content: string | Buffer): void => {
    response.writeHead(200, { 'content-type': type }).end(content);
  };
  switch (url.pathname) {
    case '/page':
      return send('text/html; charset=utf-8', pageOf(url, origin));
    case '/script.js':
      return send('text/javascript; charset=utf-8', await bundleOf(entryOf(url)));
    case '/favicon.ico':
      response.writeHead(204).end();
      return;
    case '/codicon.ttf':
      return send('font/ttf', iconFont());
    default:
      response.writeHead(404).end();
  }
}

function entryOf(url: URL): string {
  return url.searchParams.get('entry') ?? '';
}

function pageOf(url: URL, origin: string): string {
  return page({
    title: 'Webview under test',
    id: 'page',
    nonce: randomBytes(16).toString('base64url'),
    cspSource: origin,
    script: `${origin}/script.js?entry=${encodeURIComponent(entryOf(url))}`,
    iconFont: `${origin}/codicon.ttf`,
    subject: JSON.parse(url.searchParams.get('subject') ?? 'null') as unknown,
    first: JSON.parse(url.searchParams.get('first') ?? 'null') as unknown,
  });
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((done) => server.close(() => done()));
}
