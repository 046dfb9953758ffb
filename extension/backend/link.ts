// The link of one repository to its backend, for the lifetime of the window. It is `connecting`,
// then `connected`; after a lost connection it is `connecting` again (immediately, then with
// growing pauses); a problem that only a person can solve makes it `unavailable` until a
// retry is requested. `closed` is final.

import type { LogOutputChannel } from 'vscode';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type { Connection } from '../../webview/messages/messages.ts';
import { type BoardChange, BoardStore } from '../../server/protocol/board-store.ts';
import { reasonOfRefusal, unavailable } from '../project/unavailable.ts';
import type { BackendAccess } from './access.ts';
import { BackendFailure, toFailure } from './failure.ts';
import { connectClient, type BackendClient, type BackendRequest } from './language-client.ts';
import { Reconnecting } from './reconnecting.ts';

/** The backend's own message after a person stopped it: only a person starts it again. */
const askedToLeave = 'asked to leave';

/**
 * The events of a connection, as the whole window names them. `attached`: the board has arrived for
 * the first time, or again after a connection of this window was lost.
 */
export type LinkChange =
  | { readonly kind: 'connection' }
  | BoardChange
  | { readonly kind: 'attached'; readonly board: StatusSnapshot; readonly isAgain: boolean };

export interface LinkOptions {
  readonly root: string;
  readonly access: BackendAccess;
  readonly environment: () => Promise<NodeJS.ProcessEnv>;
  readonly log: LogOutputChannel;
  readonly onChange: (change: LinkChange) => void;
}

export class BackendLink {
  readonly #options: LinkOptions;
  readonly #store: BoardStore;
  readonly #reconnecting = new Reconnecting(() => performance.now());
  #connection: Connection = { kind: 'connecting' };
  #client: BackendClient | null = null;
  #attempt = 0;
  #isTrying = false;
  #hasBeenAttached = false;
  #isClosed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { onChange, log } = options;
    const onFailure = (error: unknown): void =>
      log.warn(`The board could not be read: ${toFailure(error).message}`);
    this.#store = new BoardStore({ onChange, onFailure }, { wait: pause });
  }

  get connection(): Connection {
    return this.#connection;
  }

  get board(): StatusSnapshot | null {
    return this.#store.board;
  }

  /** The connected client. Read it again for each request, because clients change. */
  get request(): BackendRequest {
    return this.#client?.request ?? refuse;
  }

  /** Connects, or retries immediately after a person has acted. */
  connect(): void {
    if (this.#isClosed || this.#client !== null) return;
    this.#reconnecting.reset();
    if (!this.#isTrying) void this.#tryAll();
  }

  /** Disconnects from the backend until `connect` is called again. */
  pause(): void {
    this.#disconnect();
    this.#say(unavailable('backend_stopped'));
  }

  close(): void {
    this.#isClosed = true;
    this.#disconnect();
  }

  #disconnect(): void {
    this.#attempt += 1;
    this.#isTrying = false;
    this.#store.end();
    this.#client?.close();
    this.#client = null;
  }

  #say(connection: Connection): void {
    this.#connection = connection;
    this.#options.onChange({ kind: 'connection' });
  }

  /** Tries until it is connected, has given up, or is superseded by a newer call. */
  async #tryAll(): Promise<void> {
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#isTrying = true;
    this.#say({ kind: 'connecting' });
    const failure = await this.#tryUntil(attempt);
    if (attempt !== this.#attempt) return;
    this.#isTrying = false;
    if (failure !== null) this.#say(unavailable(reasonOfRefusal(failure.kind), failure.message));
  }

  /** Null once connected (or superseded), otherwise the problem that only a person can solve. */
  async #tryUntil(attempt: number): Promise<BackendFailure | null> {
    for (;;) {
      const delayMs = this.#reconnecting.nextDelayMs();
      if (delayMs === null) return new BackendFailure('gone', 'The backend could not be reached.');
      await pause(delayMs);
      if (attempt !== this.#attempt) return null;
      const failure = await this.#tryOnce(attempt);
      if (failure === null || attempt !== this.#attempt) return null;
      this.#options.log.warn(`${this.#options.root}: ${failure.message}`);
      if (!canPass(failure)) return failure;
    }
  }

  async #tryOnce(attempt: number): Promise<BackendFailure | null> {
    const { access, root, environment, log, onChange } = this.#options;
    let client: BackendClient | null = null;
    try {
      client = await connectClient(
        async () => access.open(root, environment),
        {
          onEvents: this.#store.hear,
          onLeaving: ({ reason }) => {
            log.info(`${root}: the backend leaves: ${reason}`);
            if (reason === askedToLeave && attempt === this.#attempt) this.pause();
          },
          onClosed: () => this.#lost(attempt),
        },
        log,
      );
      if (attempt !== this.#attempt) {
        client.close();
        return null;
      }
      this.#client = client;
      const board = await this.#attach(client);
      this.#reconnecting.connected();
      this.#say({ kind: 'connected', version: client.hello.version, root });
      onChange({ kind: 'attached', board, isAgain: this.#hasBeenAttached });
      this.#hasBeenAttached = true;
      return null;
    } catch (error) {
      client?.close();
      if (this.#client === client) this.#client = null;
      return toFailure(error);
    }
  }

  /**
   * Reads the board first, then the feed from the board's own number, so that no event is missed in
   * between.
   */
  async #attach(client: BackendClient): Promise<StatusSnapshot> {
    const board = await this.#store.begin({
      snapshot: () => client.request('status', {}),
      changes: (after) => client.request('board.changes', { after }),
    });
    const subscribed = await client.request('subscribe', { after: board.seq, board: true });
    this.#store.reach(subscribed.seq);
    return board;
  }

  #lost(attempt: number): void {
    if (attempt !== this.#attempt || this.#isClosed) return;
    this.#client = null;
    this.#store.end();
    this.#options.log.info(`${this.#options.root}: the connection to the backend was lost`);
    void this.#tryAll();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const refuse: BackendRequest = () =>
  Promise.reject(new BackendFailure('gone', 'Not connected to the backend.'));

/** True if a retry can help without a person. */
function canPass(failure: BackendFailure): boolean {
  return ['gone', 'leaving', 'unreachable', 'busy', 'already_running'].includes(failure.kind);
}
