// The extension's end of the wire, played by a test: answers a webview's requests, records them,
// and pushes.

import assert from 'node:assert/strict';
import { applyChanges } from '../../../server/protocol/board.ts';
import type { BoardChanges } from '../../../server/protocol/panel-views.ts';
import { boardBytes } from '../../../extension/webviews/board-bytes.ts';
import { pushOfKey } from '../../../extension/commands/tree-keys.ts';
import { answerTogether, replyTo } from '../../../extension/webviews/replies.ts';
import { readingRequests } from '../../../webview/messages/messages.ts';
import type {
  Ask,
  BackendRequests,
  FirstState,
  FromWebview,
  HostActionName,
  HostActions,
  HostState,
  Reply,
  ToWebview,
  WebviewAction,
  WebviewRequestName,
} from '../../../webview/messages/messages.ts';
import { patience } from '../../patience.ts';
import { commandOf, type PressedInPage } from './keybindings.ts';

/** A refusal, as the backend or the extension would give it. */
export class Refusal extends Error {
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface Asked {
  readonly to: 'backend' | 'host';
  readonly name: string;
  readonly params: unknown;
}

type Answer<P, R> = (params: P) => R | Promise<R>;
type AnyAnswer = (params: never) => unknown;

const unrecorded: ReadonlySet<string> = new Set(['hello', 'keysHere', 'keysDone']);
const waitMaxMs = 40_000 * patience;

const ofPages: ReadonlySet<string> = new Set([
  ...readingRequests,
  ...unrecorded,
  'measured',
  'notify',
  'readPlace',
  'readImage',
  'readRules',
  'readPlan',
  'checkPlan',
]);

function isOfPerson(name: string): boolean {
  return !ofPages.has(name);
}

export class FakeHost {
  state: HostState;
  /** Everything that was asked, oldest first; `hello` and those about keys are left out. */
  readonly asked: Asked[] = [];
  /** The last focused rows. */
  selection: readonly string[] = [];
  readonly unanswered: string[] = [];
  /** Commands whose keys a person has removed in VS Code. */
  readonly removedKeys = new Set<string>();
  /** VS Code's own reaction to keys follows this. */
  keysAfter: Promise<void> = Promise.resolve();
  /** Refuses requests of a person's button, and not those that a page makes by itself. */
  refuses: ((name: string) => Refusal) | null = null;
  #commanded = Promise.resolve();
  #throughPage: () => Promise<unknown> = () => Promise.resolve();
  readonly #answers = new Map<string, AnyAnswer>();
  readonly #listeners = new Set<() => void>();
  #send: (message: ToWebview) => Promise<void> = () => Promise.resolve();

  constructor(state: HostState) {
    this.state = state;
    this.action('hello', async () => {
      await this.#sendState();
      return {};
    });
    this.action('measured', () => ({}));
    this.action('keysHere', ({ here }) => ({ counts: here }));
    this.action('keysDone', async () => {
      await this.#throughPage();
      await this.#commanded;
      return {};
    });
    this.action('readPlace', () => ({ place: null }));
    this.backend('notes.list', () => []);
    this.backend('review.show', () => null);
  }

  /** Says how the backend answers; the last word holds. Throw a `Refusal` to refuse. */
  backend<N extends WebviewRequestName>(
    name: N,
    answer: Answer<BackendRequests[N]['params'], BackendRequests[N]['result']>,
  ): void {
    this.#answers.set(`backend ${name}`, answer as AnyAnswer);
  }

  action<N extends HostActionName>(
    name: N,
    answer: Answer<HostActions[N]['params'], HostActions[N]['result']>,
  ): void {
    this.#answers.set(`host ${name}`, answer as AnyAnswer);
  }

  async pushState(change: Partial<HostState>): Promise<void> {
    this.state = { ...this.state, ...change };
    await this.#sendState();
  }

  /** As a single click reuses a page: its state is about this from now on. */
  async reuse(subject: HostState['subject'], first: FirstState | null): Promise<void> {
    this.state = { ...this.state, subject };
    await this.#send({ type: 'reuse', subject, first });
  }

  /** As VS Code hides a page that it keeps. */
  async rest(): Promise<void> {
    await this.#send({ type: 'rest' });
  }

  async #sendState(): Promise<void> {
    const { board, ...state } = this.state;
    await this.#send({ type: 'state', state, board: board === null ? null : boardBytes(board) });
  }

  /** Pushes changes of the board; the state that `hello` answers with follows. */
  async pushChanges(changes: BoardChanges): Promise<void> {
    const board = this.state.board === null ? null : applyChanges(this.state.board, changes);
    if (board !== null) this.state = { ...this.state, board };
    await this.#send({ type: 'changes', changes });
  }

  async do(action: WebviewAction, ids: readonly string[] = []): Promise<void> {
    await this.#send({ type: 'do', action, ids });
  }

  of(name: string): readonly Asked[] {
    return this.asked.filter((asked) => asked.name === name);
  }

  /** The parameters of the first ask with this name behind the first `skip` ones, waited for. */
  async waitFor<N extends WebviewRequestName | HostActionName>(
    name: N,
    skip = 0,
  ): Promise<unknown> {
    const found = await this.until(`the webview asks ${name}`, () => this.of(name)[skip] ?? null);
    return found.params;
  }

  /** Waits until something of this host is true. Checked after each message of the webview. */
  async until<T>(what: string, look: () => T | null | undefined | false): Promise<T> {
    return await new Promise((done, fail) => {
      const check = (): void => {
        const seen = look();
        if (seen === null || seen === undefined || seen === false) return;
        stop();
        done(seen);
      };
      const asked = (): string => this.asked.map(({ name }) => name).join(', ');
      const timer = setTimeout(() => {
        stop();
        fail(new Error(`still not after ${waitMaxMs / 1000} s: ${what}; asked were: ${asked()}`));
      }, waitMaxMs);
      const stop = (): void => {
        clearTimeout(timer);
        this.#listeners.delete(check);
      };
      this.#listeners.add(check);
      check();
    });
  }

  /** For the harness: how messages get to the page, and when all that it has sent is here. */
  connect(send: (message: ToWebview) => Promise<void>, throughPage: () => Promise<unknown>): void {
    this.#send = send;
    this.#throughPage = throughPage;
  }

  /** For the harness: a key that the page leaves to VS Code. */
  press(key: PressedInPage): void {
    const id = commandOf(this.state.webview, key);
    const push = id === null || this.removedKeys.has(id) ? null : pushOfKey(id);
    this.#commanded = this.#commanded.then(async () => {
      await this.keysAfter;
      if (push !== null) await this.#send(push);
    });
  }

  /** For the harness: a message of the page. */
  receive(message: FromWebview): void {
    if (message.type === 'selection') {
      this.selection = message.ids;
      this.#tell();
      return;
    }
    for (const { to, name, params } of message.asks) {
      if (!unrecorded.has(name)) this.asked.push({ to, name, params });
    }
    const answers = message.asks.map((ask) => this.#reply(ask));
    answerTogether(answers, (replies) => void this.#send({ type: 'replies', replies }));
    this.#tell();
  }

  /** For the harness: fails for questions that no test had an answer for. */
  assertAnswered(): void {
    assert.deepEqual(this.unanswered, [], 'the webview asked what the test had no answer for');
  }

  async #reply({ ask, to, name, params }: Ask): Promise<Reply> {
    const key = `${to} ${name}`;
    const answer = this.#answers.get(key);
    const isRefused = this.refuses !== null && isOfPerson(name);
    if (answer === undefined && to === 'backend' && !isRefused) this.unanswered.push(key);
    try {
      if (this.refuses !== null && isOfPerson(name)) throw this.refuses(name);
      if (answer === undefined && to === 'backend') throw new Refusal('unknown', `no ${name} here`);
      const result = answer === undefined ? {} : await answer(params as never);
      return replyTo({ ask, name }, result === undefined ? {} : result);
    } catch (error) {
      const kind = error instanceof Refusal ? error.kind : 'internal';
      const text = error instanceof Error ? error.message : String(error);
      return { ask, ok: false, error: { kind, message: text } };
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
