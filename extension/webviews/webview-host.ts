// The extension's end of one webview: its page, what it asks, what it is told. Knows nothing of
// what the panels show.

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type {
  Ask,
  BackendRequests,
  HostActionName,
  HostState,
  Pushed,
  Reply,
  ToWebview,
  WebviewName,
} from '../../webview/messages/messages.ts';
import { toFailure } from '../backend/failure.ts';
import { boardBytes } from './board-bytes.ts';
import { page } from './html.ts';
import { readAsk, readMessage, refusedAsk } from './messages-in.ts';
import { answerTogether } from './replies.ts';
import type { Subject } from './panel-subject.ts';

/** What every webview is given to answer its questions. */
export interface WebviewSurroundings {
  readonly extensionUri: vscode.Uri;
  readonly state: (webview: WebviewHost) => HostState;
  readonly backend: (
    webview: WebviewHost,
    name: keyof BackendRequests,
    params: object,
  ) => Promise<unknown>;
  readonly action: (webview: WebviewHost, name: HostActionName, params: object) => Promise<unknown>;
  readonly selected: (webview: WebviewHost, ids: readonly string[]) => void;
  readonly log: vscode.LogOutputChannel;
}

const titles: { readonly [N in WebviewName]: string } = {
  tree: 'Drover Tasks',
  inbox: 'Drover Inbox',
  stream: 'Drover Stream',
  grid: 'Drover Agents',
  board: 'Drover Board',
  run: 'Drover Runs',
};

export class WebviewHost implements vscode.Disposable {
  readonly name: WebviewName;
  readonly subject: Subject;
  readonly #webview: vscode.Webview;
  readonly #around: WebviewSurroundings;
  readonly #isVisible: () => boolean;
  readonly #subscription: vscode.Disposable;
  readonly #hasGreeted = Promise.withResolvers<void>();
  #isGone = false;

  constructor(
    name: WebviewName,
    subject: Subject,
    webview: vscode.Webview,
    isVisible: () => boolean,
    around: WebviewSurroundings,
  ) {
    this.name = name;
    this.subject = subject;
    this.#webview = webview;
    this.#isVisible = isVisible;
    this.#around = around;
    const files = vscode.Uri.joinPath(around.extensionUri, 'dist', 'webview');
    webview.options = { enableScripts: true, localResourceRoots: [files] };
    this.#subscription = webview.onDidReceiveMessage((raw: unknown) => {
      this.#take(raw);
    });
    const uri = (file: string): string =>
      webview.asWebviewUri(vscode.Uri.joinPath(files, file)).toString();
    webview.html = page({
      title: titles[name],
      nonce: randomBytes(16).toString('base64url'),
      cspSource: webview.cspSource,
      script: uri(`${name}.js`),
      codiconStyle: uri('codicon.css'),
      subject,
    });
  }

  /** A hidden webview hears nothing (VS Code drops it): it asks for everything when it is shown. */
  push(message: Pushed): void {
    if (!this.#isGone && this.#isVisible()) this.#post(message);
  }

  pushState(): void {
    if (!this.#isGone && this.#isVisible()) this.#postState();
  }

  /**
   * Resolves once the webview has asked for its state for the first time, and so can be told what
   * to do.
   */
  whenReady(): Promise<void> {
    return this.#hasGreeted.promise;
  }

  dispose(): void {
    this.#isGone = true;
    this.#hasGreeted.resolve();
    this.#subscription.dispose();
  }

  #postState(): void {
    const { board, ...state } = this.#around.state(this);
    this.#post({ type: 'state', state, board: board === null ? null : boardBytes(board) });
  }

  #post(message: ToWebview): void {
    if (this.#isGone) return;
    this.#webview.postMessage(message).then(undefined, (error: unknown) => {
      this.#around.log.warn(`${this.name}: ${String(error)}`);
    });
  }

  #take(raw: unknown): void {
    const message = readMessage(raw);
    if (message?.type === 'selection') this.#around.selected(this, message.ids);
    if (message?.type !== 'asks') return;
    const answers = message.asks.map(async (each) => {
      const ask = readAsk(each);
      return ask === null ? refusal(each) : await this.#answer(ask);
    });
    answerTogether(answers, (replies) => this.#post({ type: 'replies', replies }));
  }

  async #answer(message: Ask): Promise<Reply> {
    const { ask } = message;
    try {
      if (message.name === 'hello') this.#postState();
      const params = message.params as object;
      const result =
        message.to === 'backend'
          ? await this.#around.backend(this, message.name, params)
          : await this.#around.action(this, message.name, params);
      if (message.name === 'hello') this.#hasGreeted.resolve();
      return { ask, ok: true, result };
    } catch (error) {
      const { kind, message: text } = toFailure(error);
      return { ask, ok: false, error: { kind, message: text } };
    }
  }
}

/** Null: nobody can be answered. */
function refusal(raw: unknown): Reply | null {
  const ask = refusedAsk(raw);
  const error = { kind: 'refused', message: 'A panel may not send this request.' };
  return ask === null ? null : { ask, ok: false, error };
}
