// The page's server: its files, its sign-in, and the socket for everything else.

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { ListenAddress } from '../core/settings/listen-address.ts';
import type { WebDevice, WebExposure } from '../protocol/web/wire.ts';
import type { Devices } from './devices.ts';
import type { Invitations } from './invitations.ts';
import { isOwnOrigin, requestOrigin } from './origin.ts';
import { PageFiles, securityHeaders } from './page-files.ts';
import type { PageSockets } from './page-sockets.ts';

export interface WebServerOptions {
  readonly address: ListenAddress;
  readonly exposure: WebExposure;
  /** Folder of the bundles. */
  readonly folder: string;
  readonly devices: Devices;
  readonly invitations: Invitations;
  readonly sockets: PageSockets;
  /** Whether a loopback connection between these ports is known to be another user's. */
  readonly isOtherUser: (from: number, to: number) => boolean;
}

export interface WebServer {
  /** The page's origin as this machine reaches it, or the proxy's. */
  readonly origin: string;
  close(): Promise<void>;
}

const bodyBytesMax = 4_096;
const messageBytesMax = 16 * 1024 * 1024;
const cookieName = 'drover';
const cookieLifeS = 180 * 24 * 3600;

/** Rejects if it cannot listen on the address. */
export async function startWebServer(options: WebServerOptions): Promise<WebServer> {
  const { address, exposure } = options;
  const files = new PageFiles(options.folder);
  let port = address.port;
  const isOwn = (origin: string): boolean => isOwnOrigin(origin, port, exposure);
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    respond(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(500, securityHeaders);
      response.end();
    });
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? '/', 'http://page').pathname;
    const asked = requestOrigin(request.headers.host ?? '', exposure);
    if (!isOwn(asked)) return refuse(response, 421);
    if (request.method === 'GET') return files.send(path, response);
    if (request.method !== 'POST') return refuse(response, 405);
    const isFromPage =
      request.headers.origin === asked && request.headers['content-type'] === 'application/json';
    if (!isFromPage) return refuse(response, 403);
    if (path === '/enter') return await enter(options, request, response);
    if (path === '/ticket') return giveTicket(options, request, response);
    return refuse(response, 404);
  };
  const server =
    exposure.kind === 'tls'
      ? createTlsServer({ cert: exposure.certificate, key: exposure.key }, answer)
      : createServer(answer);
  const webSockets = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax });
  server.on('upgrade', (request, socket, head) => {
    const asked = requestOrigin(request.headers.host ?? '', exposure);
    const isFromPage = isOwn(asked) && request.headers.origin === asked;
    if (!isFromPage || request.url !== '/socket') {
      socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (opened) => options.sockets.take(opened));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host ?? undefined, resolve);
  });
  ({ port } = server.address() as AddressInfo);
  return {
    origin: exposure.kind === 'proxy' ? exposure.origin : ownOrigin(address, port, exposure),
    close: async () => {
      options.sockets.close();
      webSockets.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function ownOrigin({ host }: ListenAddress, port: number, { kind }: WebExposure): string {
  const name = host?.includes(':') === true ? `[${host}]` : (host ?? 'localhost');
  return `${kind === 'tls' ? 'https' : 'http'}://${name}:${port}`;
}

/** Exchanges a one-time token for a device with a cookie. */
async function enter(
  { devices, invitations, exposure, sockets, isOtherUser }: WebServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A browser gets its link as an argument, and other users of the machine can read arguments.
  const { remotePort = 0, localPort = 0 } = request.socket;
  if (exposure.kind === 'loopback' && isOtherUser(remotePort, localPort)) {
    return refuse(response, 403);
  }
  const { token, name } = await bodyOf(request);
  const known = deviceOf(devices, request);
  const invitation = invitations.accept(String(token), addressOf(request, exposure));
  if (invitation === 'paused') return refuse(response, 429);
  if (invitation === 'wrong') return refuse(response, 403);
  // A browser that is let in again keeps one entry in the list.
  if (known !== null) devices.remove(known.id);
  const called = invitation.name === '' && typeof name === 'string' ? name : invitation.name;
  const { device, cookie } = devices.add(called, invitation.role);
  const secure = exposure.kind === 'loopback' ? '' : '; Secure';
  const fixed = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${cookieLifeS}${secure}`;
  const headers = { ...securityHeaders, 'Set-Cookie': `${cookieName}=${cookie}; ${fixed}` };
  sendJson(response, headers, { ticket: ticketFor(sockets, device) });
}

/** A page whose browser has the cookie may open a socket. */
function giveTicket(
  { devices, sockets }: WebServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const device = deviceOf(devices, request);
  if (device === null) return refuse(response, 401);
  sendJson(response, securityHeaders, { ticket: ticketFor(sockets, device) });
}

function ticketFor(sockets: PageSockets, { id }: WebDevice): string {
  const ticket = randomBytes(24).toString('base64url');
  sockets.expect(ticket, id);
  return ticket;
}

function deviceOf(devices: Devices, { headers }: IncomingMessage): WebDevice | null {
  const cookies = (headers.cookie ?? '').split(';').map((each) => each.trim());
  const own = cookies.find((each) => each.startsWith(`${cookieName}=`));
  return own === undefined ? null : devices.find(own.slice(cookieName.length + 1));
}

/** The proxy appends the client's address at the end. */
function addressOf({ headers, socket }: IncomingMessage, { kind }: WebExposure): string {
  const forwarded = kind === 'proxy' ? String(headers['x-forwarded-for'] ?? '') : '';
  return forwarded.split(',').at(-1)?.trim() || (socket.remoteAddress ?? '');
}

/** The fields of a small JSON object; empty for anything else. */
async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) {
    text += chunk;
    if (text.length > bodyBytesMax) return {};
  }
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function sendJson(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  value: object,
): void {
  response.writeHead(200, { ...headers, 'Content-Type': 'application/json' });
  response.end(JSON.stringify(value));
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, securityHeaders).end();
}
