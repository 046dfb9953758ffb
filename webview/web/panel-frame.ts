// One panel in a separate frame, with the same bundle as in VS Code: answers its requests and
// pushes changes.

import { isOneOf } from '../../server/core/one-of.ts';
import { decidedId } from '../../server/protocol/decided.ts';
import { packTasks } from '../../server/protocol/packed-tasks.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import {
  type Ask,
  type FromWebview,
  type HostActionName,
  type HostState,
  type Pushed,
  type Reply,
  type ToWebview,
  type WebviewAction,
  type WebviewName,
  webviewRequests,
} from '../messages/messages.ts';
import { AskFailure } from '../shared/asks.ts';
import type { OpenProject, ProjectNews } from './open-project.ts';

export type PanelName = Exclude<WebviewName, 'plan'>;

export interface PanelPlace {
  readonly name: PanelName;
  /** A task with its attempt, or an epic. */
  readonly id: string | null;
  readonly attempt: number | null;
}

export interface PanelSurroundings {
  readonly project: OpenProject;
  readonly action: (name: HostActionName, params: object) => Promise<unknown>;
  /** Applies a person's decision, and starts a run if the next step needs one. */
  readonly decided: (id: string, request: () => Promise<unknown>) => Promise<unknown>;
  /** Opens the menu of a task or an epic, or of the panel itself if it is null. */
  readonly menu: (subject: string | null) => void;
  readonly agents: readonly string[];
}

/** Posted by `panel-api.ts`, which is in the place of VS Code's own menu. */
export interface PanelMenu {
  readonly type: 'menu';
  readonly subject: string | null;
}

export class PanelFrame {
  readonly element: HTMLIFrameElement;
  readonly place: PanelPlace;
  readonly #around: PanelSurroundings;
  readonly #onMessage: (event: MessageEvent<FromWebview | PanelMenu>) => void;
  /** Compressing a board takes a while, so later messages wait for their turn. */
  #posts: Promise<void> = Promise.resolve();
  #isListening = false;
  /** Requested from the panel before it was loaded. */
  #early: (() => void) | null = null;
  selection: readonly string[] = [];

  constructor(place: PanelPlace, title: string, around: PanelSurroundings) {
    this.place = place;
    this.#around = around;
    this.element = document.createElement('iframe');
    this.element.title = title;
    this.element.className = 'panel';
    const { id, attempt } = place;
    const { root } = around.project.project;
    const subject = encodeURIComponent(JSON.stringify({ id, attempt, root }));
    this.element.src = `panel/${place.name}#${subject}`;
    this.#onMessage = (event) => {
      if (event.source === this.element.contentWindow && event.origin === location.origin) {
        this.#take(event.data);
      }
    };
    window.addEventListener('message', this.#onMessage);
  }

  dispose(): void {
    window.removeEventListener('message', this.#onMessage);
    this.element.remove();
  }

  hear(news: ProjectNews): void {
    if (!this.#isListening) return;
    if (news.kind === 'changes') this.#post({ type: 'changes', changes: news.changes });
    else this.#postState();
  }

  /** The panel executes it itself, on these tasks and epics. */
  do(action: WebviewAction, ids: readonly string[] = this.selection): void {
    if (this.#isListening) this.#post({ type: 'do', action, ids });
    else this.#early = () => this.#post({ type: 'do', action, ids });
  }

  #take(message: FromWebview | PanelMenu): void {
    if (message.type === 'menu') this.#around.menu(message.subject);
    if (message.type === 'selection') this.selection = message.ids;
    if (message.type !== 'asks') return;
    for (const ask of message.asks) {
      void this.#answer(ask).then((reply) => this.#post({ type: 'replies', replies: [reply] }));
    }
  }

  async #answer(message: Ask): Promise<Reply> {
    const { ask } = message;
    try {
      return { ask, ok: true, result: await this.#resultFor(message) };
    } catch (error) {
      const kind = error instanceof AskFailure ? error.kind : 'failed';
      return { ask, ok: false, error: { kind, message: (error as Error).message } };
    }
  }

  async #resultFor({ to, name, params }: Ask): Promise<unknown> {
    const { project, action, decided } = this.#around;
    if (to === 'host') {
      if (name !== 'hello') return await action(name, params as object);
      this.#isListening = true;
      this.#postState();
      this.#early?.();
      this.#early = null;
      return {};
    }
    if (!isOneOf(webviewRequests, name)) throw new AskFailure('refused', 'Not for panels.');
    const request = (): Promise<unknown> => project.request(name, params as never);
    const id = decidedId(name, params as object);
    return id === null ? await request() : await decided(id, request);
  }

  #postState(): void {
    const { project, agents } = this.#around;
    const { name, id, attempt } = this.place;
    const { board, connection } = project;
    const reduceMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const state: Omit<HostState, 'board'> = {
      webview: name,
      connection,
      subject: { id, attempt },
      agents,
      settings: { showPreflight: true, reduceMotion },
    };
    const packed = board === null ? Promise.resolve(null) : boardBytes(board);
    this.#posts = this.#posts.then(async () => {
      this.#send({ type: 'state', state, board: await packed });
    });
  }

  #post(message: Exclude<ToWebview, Pushed & { type: 'state' }>): void {
    this.#posts = this.#posts.then(() => this.#send(message));
  }

  #send(message: ToWebview): void {
    this.element.contentWindow?.postMessage(message, location.origin);
  }
}

/** The board, compressed as by the extension. */
async function boardBytes(board: StatusSnapshot): Promise<Uint8Array> {
  const json = JSON.stringify({ ...board, tasks: packTasks(board.tasks) });
  const packed = new Blob([json]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}
