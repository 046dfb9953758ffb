// The extension's side of one webview: its page, its requests, and the changes that are pushed to
// it. It does not depend on the panel's content.

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type {
  Ask,
  FirstState,
  HostActionName,
  HostState,
  LogPlace,
  Pushed,
  Reply,
  ToWebview,
  WebviewName,
} from '../../webview/messages/messages.ts';
import { decidedId } from '../../server/protocol/decided.ts';
import { BackendFailure, toFailure } from '../backend/failure.ts';
import { actionCommands, isCommandAction, type CommandActionName, type CommandId } from '../ids.ts';
import { withTitles } from '../notices/named-ids.ts';
import type { Project, ProjectChange } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { boardBytes, packedBoard } from './board-bytes.ts';
import { firstBoard } from './first-board.ts';
import { page } from './html.ts';
import { isChange, readAsk, readMessage, refusedAsk } from './messages-in.ts';
import { answerTogether, replyTo } from './replies.ts';
import type { Subject } from './panel-subject.ts';

/** The dependencies that every webview needs to answer requests. */
export interface WebviewSurroundings {
  readonly extensionUri: vscode.Uri;
  readonly projects: Pick<Projects, 'shownIn' | 'onChange'>;
  readonly state: (webview: WebviewHost) => HostState;
  readonly command: (
    id: CommandId,
    args: readonly unknown[],
    webview: WebviewHost,
  ) => Promise<void>;
  /** Actions that are not commands. */
  readonly action: (
    webview: WebviewHost,
    name: Exclude<HostActionName, CommandActionName>,
    params: object,
  ) => Promise<unknown>;
  /** Applies a person's decision on a task, and starts a run if the next step needs one. */
  readonly decided: <T>(webview: WebviewHost, id: string, request: () => Promise<T>) => Promise<T>;
  /** `hasFocus`: its page has the keyboard focus. */
  readonly selected: (webview: WebviewHost, hasFocus: boolean) => void;
  /** A person edits something in it. */
  readonly changed: (webview: WebviewHost) => void;
  readonly log: vscode.LogOutputChannel;
}

const titles: { readonly [N in WebviewName]: string } = {
  tree: 'Drover Tasks',
  inbox: 'Drover Inbox',
  stream: 'Drover Stream',
  grid: 'Drover Agents',
  board: 'Drover Board',
  run: 'Drover Runs',
  plan: 'Drover Plan',
  worktrees: 'Drover Worktrees',
  rules: 'Drover Pull Request Rules',
};

/** The place in which VS Code shows a webview. */
export interface WebviewPlace {
  readonly isVisible: () => boolean;
  /** VS Code keeps its page loaded while it is hidden. */
  readonly isKept: boolean;
}

function filesOf(extensionUri: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(extensionUri, 'dist', 'webview');
}

export function webviewOptions(extensionUri: vscode.Uri): vscode.WebviewOptions {
  return { enableScripts: true, localResourceRoots: [filesOf(extensionUri)] };
}

export class WebviewHost implements vscode.Disposable {
  readonly name: WebviewName;
  subject: Subject;
  readonly #webview: vscode.Webview;
  readonly #around: WebviewSurroundings;
  readonly #place: WebviewPlace;
  readonly #subscriptions: readonly vscode.Disposable[];
  readonly #hasGreeted = Promise.withResolvers<void>();
  #isGone = false;
  /** A page exists and has requested its state. */
  #isListening = false;
  /** It is hidden, and was not asked to show anything since. */
  #isAsleep = false;
  /** Ids of the rows that are selected in it. */
  selection: readonly string[] = [];
  #goal: LogPlace | null = null;

  constructor(
    name: WebviewName,
    subject: Subject,
    webview: vscode.Webview,
    place: WebviewPlace,
    around: WebviewSurroundings,
  ) {
    this.name = name;
    this.subject = subject;
    this.#webview = webview;
    this.#place = place;
    this.#around = around;
    webview.options = webviewOptions(around.extensionUri);
    this.#subscriptions = [
      webview.onDidReceiveMessage((raw: unknown) => this.#take(raw)),
      around.projects.onChange((change) => this.#hear(change)),
    ];
    const uri = (file: string): string =>
      webview.asWebviewUri(vscode.Uri.joinPath(filesOf(around.extensionUri), file)).toString();
    webview.html = page({
      title: titles[name],
      id: randomBytes(8).toString('base64url'),
      nonce: randomBytes(16).toString('base64url'),
      cspSource: webview.cspSource,
      script: uri(`${name}.js`),
      iconFont: uri('codicon.ttf'),
      subject,
      first: this.#first(),
    });
  }

  /** The state that the page draws at once, without requesting it first. */
  #first(): FirstState | null {
    const { board, ...state } = this.#around.state(this);
    const task = this.name === 'stream' ? this.subject.id : null;
    const first = board === null ? null : firstBoard(board, task);
    return first === null ? null : { state, board: packedBoard(first) };
  }

  get project(): Project | null {
    return this.#around.projects.shownIn(this.subject.root);
  }

  get openProject(): Project {
    const { project } = this;
    if (project === null) throw new BackendFailure('gone', 'No repository is open.');
    return project;
  }

  /**
   * A hidden webview gets no messages (VS Code drops them), so it requests everything when it is
   * shown. A page that stays loaded gets them once it draws its next content.
   */
  push(message: Pushed): void {
    if (this.#isHeard()) this.#post(message);
  }

  /**
   * Shows something else in the existing page, which is far faster than creating another page.
   * Returns false if no page would receive it.
   */
  reuse(subject: Subject): boolean {
    const { isVisible, isKept } = this.#place;
    if (!this.#isListening || (!isKept && !isVisible())) return false;
    this.subject = subject;
    this.selection = [];
    this.#goal = null;
    this.#draw();
    return true;
  }

  /** Uses the script that the page has already loaded. */
  #draw(): void {
    this.#isAsleep = false;
    this.#post({ type: 'reuse', subject: this.subject, first: this.#first() });
  }

  /**
   * VS Code unloads the page and loads it again when it is shown; a page that stays loaded must be
   * inactive.
   */
  hidden(): void {
    this.#isAsleep = true;
    if (!this.#place.isKept) this.#isListening = false;
    else if (this.#isListening) this.#post({ type: 'rest' });
  }

  /** A page that stayed loaded draws its subject with the current board. */
  shown(): void {
    if (this.#isAsleep && this.#isListening) this.#draw();
    this.#isAsleep = false;
  }

  /** Moves a stream to a position in its log: at once, or as soon as it is shown. */
  goTo(place: LogPlace): void {
    this.#goal = place;
    // A page that starts sends its own request.
    this.push({ type: 'do', action: 'place', ids: [] });
  }

  /** Only once, because a page that is created again keeps its position. */
  takePlace(): LogPlace | null {
    const goal = this.#goal;
    this.#goal = null;
    return goal;
  }

  pushState(): void {
    if (this.#isHeard()) this.#postState();
  }

  #isHeard(): boolean {
    const { isVisible, isKept } = this.#place;
    const isAwake = isKept && this.#isListening && !this.#isAsleep;
    return !this.#isGone && (isVisible() || isAwake);
  }

  /**
   * Resolves once the webview has requested its state for the first time, and can receive actions.
   */
  whenReady(): Promise<void> {
    return this.#hasGreeted.promise;
  }

  dispose(): void {
    this.#isGone = true;
    this.#hasGreeted.resolve();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #hear({ project, change }: ProjectChange): void {
    switch (change.kind) {
      case 'changes':
        if (this.project === project) this.push({ type: 'changes', changes: change.changes });
        return;
      case 'attached':
        return;
      // A board that was read again replaces the webview's board.
      case 'board':
      case 'connection':
      case 'list':
        this.pushState();
    }
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
    if (message?.type === 'selection') {
      this.selection = message.ids;
      this.#around.selected(this, message.hasFocus);
    }
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
      if (isChange(message)) this.#around.changed(this);
      let result: unknown = {};
      if (message.to === 'backend') {
        const request = async (): Promise<unknown> =>
          await this.openProject.request(message.name, params as never);
        const id = decidedId(message.name, params);
        result = id === null ? await request() : await this.#around.decided(this, id, request);
      } else if (isCommandAction(message.name)) {
        await this.#around.command(actionCommands[message.name], [params], this);
      } else result = await this.#around.action(this, message.name, params);
      if (message.name === 'hello') {
        this.#isListening = true;
        this.#hasGreeted.resolve();
        // It was hidden while it was loading.
        if (this.#isAsleep) this.hidden();
      }
      return replyTo(message, result);
    } catch (error) {
      const { kind, message: text } = toFailure(error);
      const named = withTitles(text, this.project?.board ?? null);
      return { ask, ok: false, error: { kind, message: named } };
    }
  }
}

/** Null if the message has no id to reply to. */
function refusal(raw: unknown): Reply | null {
  const ask = refusedAsk(raw);
  const error = { kind: 'refused', message: 'A panel may not send this request.' };
  return ask === null ? null : { ask, ok: false, error };
}
