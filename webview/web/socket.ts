// The page's side of the socket: signs in, connects, sends numbered requests, and reconnects when
// the connection is lost. Pending requests then fail; panels repeat the ones for their content.

import type { ToPage, WebAsk } from '../../server/protocol/web/wire.ts';
import { AskFailure } from '../shared/asks.ts';

export type SocketState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** `refused`: this browser is not approved, or no longer is. */
  | { readonly kind: 'refused'; readonly message: string };

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const retryMinMs = 200;
const retryMaxMs = 10_000;
/** A page that comes back into sight after such a silence does not trust its connection. */
const quietMsMax = 30_000;
const signInAgain = 4401;

export class PageSocket {
  readonly #onMessage: (message: ToPage) => void;
  readonly #onState: (state: SocketState) => void;
  readonly #waiting = new Map<number, Waiting>();
  #socket: WebSocket | null = null;
  #last = 0;
  #retryMs = retryMinMs;
  #heardMs = 0;

  constructor(onMessage: (message: ToPage) => void, onState: (state: SocketState) => void) {
    this.#onMessage = onMessage;
    this.#onState = onState;
    // Of another network, no packet ever arrives on the old connection, and nothing closes it.
    window.addEventListener('online', () => this.#renew());
    document.addEventListener('visibilitychange', () => {
      const isBack = !document.hidden && performance.now() - this.#heardMs > quietMsMax;
      if (isBack) this.#renew();
    });
  }

  async connect(): Promise<void> {
    if (this.#socket !== null) return;
    this.#onState({ kind: 'connecting' });
    const ticket = await this.#ticket().catch(() => null);
    if (ticket === null) return this.#later();
    if (ticket === '') return;
    if (this.#socket !== null) return;
    const socket = new WebSocket(new URL('socket', location.href.replace(/^http/u, 'ws')));
    this.#socket = socket;
    socket.addEventListener('open', () => {
      socket.send(JSON.stringify({ ticket }));
      this.#retryMs = retryMinMs;
    });
    socket.addEventListener('message', ({ data }) => {
      this.#heardMs = performance.now();
      if (socket === this.#socket) this.#take(JSON.parse(String(data)) as ToPage);
    });
    socket.addEventListener('close', ({ code, reason }) => {
      if (socket === this.#socket) this.#closed(code, reason);
    });
  }

  ask(project: string, name: string, params: object): Promise<unknown> {
    const socket = this.#socket;
    if (socket === null || socket.readyState !== WebSocket.OPEN) {
      return Promise.reject(new AskFailure('gone', 'Not connected.'));
    }
    this.#last += 1;
    const message = { ask: this.#last, project, name, params } as WebAsk;
    socket.send(JSON.stringify(message));
    return new Promise((resolve, reject) => this.#waiting.set(message.ask, { resolve, reject }));
  }

  /** Resolves with null if the server does not answer, and with "" if it refuses. */
  async #ticket(): Promise<string | null> {
    const invited = /^#token(?:=|%3D)([\w-]+)$/u.exec(location.hash)?.[1];
    // The link works only once, so it should not be kept in the history.
    if (invited !== undefined) history.replaceState(null, '', location.pathname);
    const [path, body] =
      invited === undefined
        ? ['ticket', {}]
        : ['enter', { token: invited, name: browserName(navigator.userAgent) }];
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.ok) return ((await response.json()) as { ticket: string }).ticket;
    if (response.status >= 500) return null;
    this.#onState({ kind: 'refused', message: refusedWords(response.status) });
    return '';
  }

  #take(message: ToPage): void {
    switch (message.type) {
      case 'answer':
        return this.#answered(message.ask)?.resolve(message.result);
      case 'refusal': {
        const { kind, message: words } = message.error;
        return this.#answered(message.ask)?.reject(new AskFailure(kind, words));
      }
      case 'welcome':
        this.#onState({ kind: 'open' });
        return this.#onMessage(message);
      case 'projects':
      case 'connection':
      case 'feed':
        return this.#onMessage(message);
    }
  }

  #answered(ask: number): Waiting | undefined {
    const waiting = this.#waiting.get(ask);
    this.#waiting.delete(ask);
    return waiting;
  }

  /** Connects again, also if the old connection seems to be open. */
  #renew(): void {
    const old = this.#socket;
    if (old !== null) {
      this.#forget();
      old.close();
    }
    void this.connect();
  }

  #closed(code: number, reason: string): void {
    this.#forget();
    if (code === signInAgain) return this.#onState({ kind: 'refused', message: reason });
    this.#later();
  }

  #forget(): void {
    this.#socket = null;
    for (const { reject } of this.#waiting.values()) {
      reject(new AskFailure('gone', 'The connection was lost.'));
    }
    this.#waiting.clear();
  }

  #later(): void {
    this.#onState({ kind: 'connecting' });
    setTimeout(() => void this.connect(), this.#retryMs);
    this.#retryMs = Math.min(retryMaxMs, this.#retryMs * 2);
  }
}

function refusedWords(status: number): string {
  switch (status) {
    case 401:
      return 'This browser is not known here. Open the link that "drover web" prints.';
    case 403:
      return 'This link was used before, or is too old. Run "drover web" for a new one.';
    case 429:
      return 'Too many wrong links came from this address. Wait a minute.';
    default:
      return `The server refused this browser (${status}).`;
  }
}

/** A name such as `Chrome on Android`; a person can rename the device. */
function browserName(agent: string): string {
  const browser = /Edg|Firefox|Chrome|Safari/u.exec(agent)?.[0].replace('Edg', 'Edge');
  const system = /Android|iPhone|iPad|Windows|Mac OS X|Linux/u.exec(agent)?.[0];
  return [browser ?? 'Browser', ...(system === undefined ? [] : [`on ${system}`])].join(' ');
}
