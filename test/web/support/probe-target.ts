// A client of the network that tries to get into `drover web`, step by step.

import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import WebSocket from 'ws';

/** The server of a page, and the steps of probes. */
export class Target {
  readonly url: URL;
  readonly newLink: () => string;
  /** Requests that reached a backend. */
  readonly asked: readonly string[];
  /** The origin that own pages have. */
  readonly own: string;

  constructor(port: string, newLink: () => string, asked: readonly string[], own: string) {
    this.url = new URL(`http://127.0.0.1:${port}`);
    this.newLink = newLink;
    this.asked = asked;
    this.own = own;
  }

  async send(path: string, headers: Record<string, string> = {}, body = '{}', method = 'POST') {
    const own = {
      host: new URL(this.own).host,
      origin: this.own,
      'content-type': 'application/json',
    };
    return await new Promise<{ status: number; cookie: string; text: string }>(
      (resolve, reject) => {
        const { hostname, port } = this.url;
        const options = { hostname, port, path, method, headers: { ...own, ...headers } };
        const sent = httpRequest(options, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('end', () => {
            const [cookie = ''] = (response.headers['set-cookie'] ?? [''])[0]?.split(';') ?? [];
            resolve({ status: response.statusCode ?? 0, cookie, text });
          });
        });
        sent.on('error', reject).end(method === 'GET' ? '' : body);
      },
    );
  }

  async enter(link = this.newLink(), headers: Record<string, string> = {}) {
    const token = new URL(link).hash.slice('#token='.length);
    const got = await this.send('/enter', headers, JSON.stringify({ token }));
    const { ticket = '' } = got.status === 200 ? (JSON.parse(got.text) as { ticket: string }) : {};
    return { ...got, ticket };
  }

  /** Resolves with null if the socket does not open with this ticket. */
  async open(ticket: string, headers: Record<string, string> = {}): Promise<Opened | null> {
    const socket = new WebSocket(`ws://${this.url.host}/socket`, {
      headers: { origin: this.own, ...headers },
    });
    return await new Promise((resolve) => {
      socket.on('error', () => resolve(null));
      socket.on('close', () => resolve(null));
      socket.on('open', () => socket.send(JSON.stringify({ ticket })));
      const waiting = new Map<number, (gotIn: boolean) => void>();
      const opened: Opened = { socket, project: '', results: [], waiting };
      socket.on('message', (raw: Buffer) => {
        const message = JSON.parse(raw.toString()) as Record<string, unknown>;
        if (message['type'] === 'welcome') {
          opened.project = (message['projects'] as { id: string }[])[0]?.id ?? '';
        }
        const { kind } = Object(message['connection']) as { kind?: string };
        if (kind === 'connected') resolve(opened);
        opened.results.push(message['result']);
        waiting.get(Number(message['ask']))?.(message['type'] === 'answer');
      });
    });
  }

  /** Resolves with whether it was answered. */
  async ask({ socket, project, waiting }: Opened, name: string, params: object = {}) {
    return await new Promise<boolean>((resolve) => {
      const ask = waiting.size + 1;
      waiting.set(ask, resolve);
      socket.on('close', () => resolve(false));
      socket.send(JSON.stringify({ ask, project, name, params }));
    });
  }

  async owner(): Promise<Opened> {
    const opened = await this.open((await this.enter()).ticket);
    assert.ok(opened !== null);
    return opened;
  }

  /** A socket of a device that was paired with this role, and its cookie. */
  async paired(owner: Opened, role: string) {
    assert.ok(await this.ask(owner, 'web.pair', { role, name: role }));
    const { url } = owner.results.at(-1) as { url: string };
    const { cookie, ticket } = await this.enter(url);
    const opened = await this.open(ticket);
    assert.ok(opened !== null);
    return { opened, cookie };
  }

  async remove(owner: Opened, name: string): Promise<void> {
    assert.ok(await this.ask(owner, 'web.devices'));
    const devices = owner.results.at(-1) as readonly { id: string; name: string }[];
    const device = devices.find((each) => each.name === name)?.id;
    assert.ok(await this.ask(owner, 'web.remove', { device }));
  }
}

export interface Opened {
  readonly socket: WebSocket;
  project: string;
  readonly results: unknown[];
  readonly waiting: Map<number, (gotIn: boolean) => void>;
}
