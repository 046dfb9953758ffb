// The server's connection to one project's backend: opened when the first page needs it, and again,
// with growing pauses, when it is lost.

import { ErrorOfKind } from '../core/failure.ts';
import type { Answer, Client, Params, RequestName } from '../protocol/api.ts';
import { droverVersion } from '../protocol/version.ts';
import type { WebConnection, WebProject } from '../protocol/web/wire.ts';

export interface ProjectLinkOptions {
  readonly project: WebProject;
  /** Starts the backend if none runs. */
  readonly open: (root: string, device?: string) => Promise<Client>;
  readonly onConnection: (connection: WebConnection) => void;
  /** The feed has reached this number. */
  readonly onFeed: (seq: number) => void;
}

/** `gone`: no backend responds. `refused`: this device may not send the request. */
export class WebFailure extends ErrorOfKind<'gone' | 'refused'> {
  override name = 'WebFailure';
}

const retryMinMs = 100;
const retryMaxMs = 10_000;

export class ProjectLink {
  readonly project: WebProject;
  readonly #options: ProjectLinkOptions;
  #connection: WebConnection = { kind: 'connecting' };
  #client: Client | null = null;
  /** By device name, for requests that name the device. */
  readonly #own = new Map<string, Promise<Client>>();
  #seq = 0;
  #retryMs = retryMinMs;
  #timer: NodeJS.Timeout | null = null;
  #isOpening = false;
  #isClosed = false;

  constructor(options: ProjectLinkOptions) {
    this.#options = options;
    this.project = options.project;
  }

  get connection(): WebConnection {
    return this.#connection;
  }

  get seq(): number {
    return this.#seq;
  }

  /** Connects now, without waiting for the pause after a failure. */
  connect(): void {
    if (this.#isClosed || this.#client !== null || this.#isOpening) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isOpening = true;
    void this.#open().finally(() => (this.#isOpening = false));
  }

  /** Throws what the client throws, or `WebFailure`. */
  async request<N extends RequestName>(name: N, params: Params<N>): Promise<Answer<N>> {
    if (this.#client === null) throw new WebFailure('gone', 'Not connected to the backend.');
    return await this.#client.call(name, params);
  }

  /** Like `request`, but its events name the device. */
  async requestFrom<N extends RequestName>(
    device: string,
    name: N,
    params: Params<N>,
  ): Promise<Answer<N>> {
    if (this.#client === null) throw new WebFailure('gone', 'Not connected to the backend.');
    const opened = this.#own.get(device) ?? this.#options.open(this.project.root, device);
    this.#own.set(device, opened);
    try {
      return await (await opened).call(name, params);
    } catch (error) {
      // If a connection ended, the next request opens it again.
      if (!(error instanceof ErrorOfKind)) this.#own.delete(device);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#client?.close();
    this.#client = null;
    this.#closeOwn();
  }

  #closeOwn(): void {
    for (const opened of this.#own.values()) {
      void opened.then(
        (client) => client.close(),
        () => {},
      );
    }
    this.#own.clear();
  }

  async #open(): Promise<void> {
    let client: Client | null = null;
    try {
      client = await this.#options.open(this.project.root);
      const { seq } = await client.call('status', {});
      this.#seq = Math.max(this.#seq, seq);
      await client.follow(
        seq,
        (events) => this.#heard(events.at(-1)?.seq ?? 0),
        () => this.#lost(client),
      );
      if (this.#isClosed) return client.close();
      this.#client = client;
      this.#retryMs = retryMinMs;
      this.#say({ kind: 'connected', version: droverVersion });
    } catch (error) {
      client?.close();
      this.#say({ kind: 'unavailable', message: (error as Error).message });
      this.#later();
    }
  }

  #heard(seq: number): void {
    this.#seq = Math.max(this.#seq, seq);
    this.#options.onFeed(this.#seq);
  }

  #lost(client: Client | null): void {
    if (client === null || client !== this.#client || this.#isClosed) return;
    this.#client = null;
    this.#closeOwn();
    this.#say({ kind: 'connecting' });
    this.#later();
  }

  #later(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.connect();
    }, this.#retryMs);
    this.#retryMs = Math.min(retryMaxMs, this.#retryMs * 2);
  }

  #say(connection: WebConnection): void {
    this.#connection = connection;
    this.#options.onConnection(connection);
  }
}
