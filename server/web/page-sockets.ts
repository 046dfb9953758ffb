// The open pages. Each one proves by a ticket which device it is on, then sends requests within
// that device's role and receives the latest feed numbers.

import type { RawData, WebSocket } from 'ws';
import { ErrorOfKind } from '../core/failure.ts';
import type { Params, RequestName } from '../protocol/api.ts';
import { isAtLeast, neededRole } from '../protocol/web/access.ts';
import type {
  OwnRequestName,
  OwnRequests,
  ToPage,
  WebAsk,
  WebDevice,
  WebProject,
} from '../protocol/web/wire.ts';
import type { Devices } from './devices.ts';
import { WebFailure } from './project-link.ts';
import type { ProjectLinks } from './project-links.ts';

export interface PageSocketsOptions {
  readonly devices: Devices;
  readonly links: ProjectLinks;
  readonly own: {
    readonly [N in OwnRequestName]: (
      params: OwnRequests[N]['params'],
      device: WebDevice,
    ) => Promise<OwnRequests[N]['result']>;
  };
  readonly nowMs: () => number;
}

const ticketLifeMs = 30_000;
const greetingWaitMs = 10_000;
/** A page that reads too slowly is disconnected. It connects again and reads the current state. */
const unsentBytesMax = 32 * 1024 * 1024;
const pingEveryMs = 30_000;

interface OpenPage {
  readonly socket: WebSocket;
  readonly deviceId: string;
}

export class PageSockets {
  readonly #options: PageSocketsOptions;
  readonly #tickets = new Map<string, { readonly deviceId: string; readonly endsAtMs: number }>();
  readonly #pages = new Set<OpenPage>();
  readonly #pings: NodeJS.Timeout;

  constructor(options: PageSocketsOptions) {
    this.#options = options;
    this.#pings = setInterval(() => {
      for (const { socket } of this.#pages) socket.ping();
    }, pingEveryMs).unref();
  }

  /** The ticket opens one socket of this device, within a short time. */
  expect(ticket: string, deviceId: string): void {
    const now = this.#options.nowMs();
    for (const [old, { endsAtMs }] of this.#tickets) {
      if (endsAtMs <= now) this.#tickets.delete(old);
    }
    this.#tickets.set(ticket, { deviceId, endsAtMs: now + ticketLifeMs });
  }

  take(socket: WebSocket): void {
    const timer = setTimeout(() => socket.close(), greetingWaitMs);
    socket.on('error', () => socket.terminate());
    socket.once('message', (raw) => {
      clearTimeout(timer);
      const page = this.#greeted(socket, fieldsOf(raw)['ticket']);
      if (page === null) return socket.close(4401, 'Sign in again.');
      this.#pages.add(page);
      socket.on('close', () => this.#pages.delete(page));
      socket.on('message', (more) => void this.#hear(page, fieldsOf(more)));
      this.#welcome(page);
    });
  }

  tell(message: ToPage): void {
    for (const { socket } of this.#pages) send(socket, message);
  }

  /** The device was removed, so its pages are disconnected. */
  end(deviceId: string): void {
    for (const page of this.#pages) {
      if (page.deviceId === deviceId) page.socket.close(4401, 'This device was removed.');
    }
    for (const [ticket, expected] of this.#tickets) {
      if (expected.deviceId === deviceId) this.#tickets.delete(ticket);
    }
  }

  close(): void {
    clearInterval(this.#pings);
    for (const { socket } of this.#pages) socket.terminate();
  }

  #greeted(socket: WebSocket, ticket: unknown): OpenPage | null {
    const expected = this.#tickets.get(String(ticket));
    this.#tickets.delete(String(ticket));
    if (expected === undefined || expected.endsAtMs <= this.#options.nowMs()) return null;
    return this.#deviceOf(expected.deviceId) === null
      ? null
      : { socket, deviceId: expected.deviceId };
  }

  #deviceOf(id: string): WebDevice | null {
    return this.#options.devices.list.find((device) => device.id === id) ?? null;
  }

  #welcome({ socket, deviceId }: OpenPage): void {
    const device = this.#deviceOf(deviceId);
    if (device === null) return;
    const links = this.#options.links.all;
    const projects = links.map(({ project }): WebProject => project);
    send(socket, { type: 'welcome', device, projects });
    for (const link of links) {
      const { connection, project } = link;
      send(socket, { type: 'connection', project: project.id, connection });
    }
    // The other projects' backends start when a page shows them.
    links[0]?.connect();
  }

  async #hear(page: OpenPage, message: Readonly<Record<string, unknown>>): Promise<void> {
    const { ask, project, name, params } = message;
    if (typeof ask !== 'number' || typeof name !== 'string') return;
    try {
      const asked = { ask, project: String(project), name, params: Object(params) as object };
      const result = await this.#answer(page, asked as WebAsk);
      send(page.socket, { type: 'answer', ask, result });
    } catch (error) {
      send(page.socket, { type: 'refusal', ask, error: refusalOf(error) });
    }
  }

  async #answer({ deviceId }: OpenPage, { project, name, params }: WebAsk): Promise<unknown> {
    const device = this.#deviceOf(deviceId);
    const needed = neededRole(name, params as Readonly<Record<string, unknown>>);
    if (device === null || needed === null)
      throw new WebFailure('refused', 'The page may not ask for this.');
    if (!isAtLeast(device.role, needed)) throw new WebFailure('refused', roleWords(device));
    if (Object.hasOwn(this.#options.own, name)) {
      return await this.#options.own[name as OwnRequestName](params as never, device);
    }
    const link = this.#options.links.find(project);
    if (link === null) throw new WebFailure('gone', 'This project is not open here.');
    const asked = params as Params<RequestName>;
    return needed === 'see'
      ? await link.request(name as RequestName, asked)
      : await link.requestFrom(device.name, name as RequestName, asked);
  }
}

function roleWords({ name, role }: WebDevice): string {
  const may = role === 'see' ? 'only look' : 'look and answer';
  return `"${name}" may ${may}. Change that on a device that may decide.`;
}

function refusalOf(error: unknown): { kind: string; message: string } {
  const { message } = error as Error;
  // Anything else means that the connection ended during the request.
  return { kind: error instanceof ErrorOfKind ? String(error.kind) : 'gone', message };
}

function send(socket: WebSocket, message: ToPage): void {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > unsentBytesMax) return socket.terminate();
  socket.send(JSON.stringify(message));
}

function fieldsOf(raw: RawData): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse((raw as Buffer).toString('utf8'))) as Record<string, unknown>;
  } catch {
    return {};
  }
}
