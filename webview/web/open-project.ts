// One project in the page: its connection, and its board, which follows the feed.

import { type BoardChange, BoardStore } from '../../server/protocol/board-store.ts';
import type { Params, RequestName, Requests } from '../../server/protocol/api.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type { WebConnection, WebProject } from '../../server/protocol/web/wire.ts';
import type { Connection } from '../messages/messages.ts';
import type { PageSocket } from './socket.ts';

export type ProjectNews = BoardChange | { readonly kind: 'connection' };

export class OpenProject {
  readonly project: WebProject;
  readonly #socket: PageSocket;
  readonly #onNews: (news: ProjectNews) => void;
  readonly #store: BoardStore;
  #connection: WebConnection = { kind: 'connecting' };
  /** The highest feed number received. */
  #heard = 0;

  constructor(project: WebProject, socket: PageSocket, onNews: (news: ProjectNews) => void) {
    this.project = project;
    this.#socket = socket;
    this.#onNews = onNews;
    const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
    this.#store = new BoardStore(
      { onChange: onNews, onFailure: (error) => console.warn(String(error)) },
      { wait },
    );
  }

  get board(): StatusSnapshot | null {
    return this.#store.board;
  }

  get connection(): Connection {
    const { root } = this.project;
    switch (this.#connection.kind) {
      case 'connecting':
        return { kind: 'connecting' };
      case 'connected':
        return { kind: 'connected', version: this.#connection.version, root };
      case 'unavailable': {
        const { message } = this.#connection;
        return { kind: 'unavailable', reason: 'backend_failed', message, action: null };
      }
    }
  }

  async request<N extends RequestName>(name: N, params: Params<N>): Promise<Requests[N]['result']> {
    return (await this.#socket.ask(this.project.id, name, params)) as Requests[N]['result'];
  }

  hear(connection: WebConnection): void {
    this.#connection = connection;
    this.#onNews({ kind: 'connection' });
    if (connection.kind !== 'connected') return this.#store.end();
    void this.#begin().catch((error: unknown) => console.warn(String(error)));
  }

  reach(seq: number): void {
    this.#heard = Math.max(this.#heard, seq);
    this.#store.reach(seq);
  }

  /** The socket is lost, but the board stays visible. */
  lost(): void {
    this.#store.end();
    this.#connection = { kind: 'connecting' };
    this.#onNews({ kind: 'connection' });
  }

  async #begin(): Promise<void> {
    this.#heard = 0;
    await this.#store.begin({
      snapshot: () => this.request('status', {}),
      changes: (after) => this.request('board.changes', { after }),
    });
    this.#store.reach(this.#heard);
  }
}
