// The webview's end of the wire to the extension: asks with a number and waits for the reply, and hears pushes.

import { unpackTasks } from '../../server/protocol/packed-tasks.ts';
import type {
  BackendRequests,
  FromWebview,
  HostActionName,
  HostActions,
  HostState,
  PackedBoard,
  ToWebview,
  WebviewRequestName,
} from '../messages/messages.ts';

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
  /** Put there by our own page (extension/webviews/html.ts). */
  readonly subject?: NonNullable<Host['subject']>;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** A refusal of the backend or the extension, with its sentence. */
export class AskFailure extends Error {
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

export type Push =
  | Exclude<ToWebview, { readonly type: 'reply' | 'state' }>
  | { readonly type: 'state'; readonly state: HostState };

/** What components see of the extension; tests give them another one. */
export interface Host {
  backend<N extends WebviewRequestName>(
    name: N,
    params: BackendRequests[N]['params'],
  ): Promise<BackendRequests[N]['result']>;
  action<N extends HostActionName>(
    name: N,
    params: HostActions[N]['params'],
  ): Promise<HostActions[N]['result']>;
  select(ids: readonly string[]): void;
  onPush(listener: (push: Push) => void): () => void;
  /** Navigation and looks only (what is folded, scrolled, typed): never a fact of the board. */
  readonly memory: { get(): unknown; set(state: unknown): void };
  /** What the page was opened for, known before the extension tells its state; absent where nobody says. */
  readonly subject?: { readonly id: string | null; readonly attempt: number | null };
}

const asksMax = 1000;

export function connectHost(): Host {
  const api = acquireVsCodeApi();
  const waiting = new Map<
    number,
    { resolve: (result: unknown) => void; reject: (error: Error) => void }
  >();
  const listeners = new Set<(push: Push) => void>();
  let lastAsk = 0;
  /** Unpacking a board takes a while: what comes behind it waits for its turn. */
  let pushes = Promise.resolve();

  const post = (message: FromWebview): void => api.postMessage(message);
  const ask = (message: (ask: number) => FromWebview): Promise<unknown> => {
    if (waiting.size >= asksMax) {
      return Promise.reject(new AskFailure('busy', 'Too many requests at once.'));
    }
    lastAsk += 1;
    const number = lastAsk;
    return new Promise((resolve, reject) => {
      waiting.set(number, { resolve, reject });
      post(message(number));
    });
  };
  window.addEventListener('message', (event: MessageEvent<ToWebview>) => {
    const message = event.data;
    if (message.type !== 'reply') {
      const tell = async (): Promise<void> => {
        const push = await pushOf(message);
        for (const listener of listeners) listener(push);
      };
      pushes = pushes.then(tell).catch(reportError);
      return;
    }
    const asked = waiting.get(message.ask);
    waiting.delete(message.ask);
    if (message.ok) asked?.resolve(message.result);
    else asked?.reject(new AskFailure(message.error.kind, message.error.message));
  });
  return {
    backend: (name, params) =>
      ask((number) => ({ type: 'ask', ask: number, to: 'backend', name, params })) as never,
    action: (name, params) =>
      ask((number) => ({ type: 'ask', ask: number, to: 'host', name, params })) as never,
    select: (ids) => post({ type: 'selection', ids }),
    onPush(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    memory: { get: () => api.getState(), set: (state) => api.setState(state) },
    ...(api.subject === undefined ? {} : { subject: api.subject }),
  };
}

async function pushOf(message: Exclude<ToWebview, { readonly type: 'reply' }>): Promise<Push> {
  if (message.type !== 'state') return message;
  const { state, board } = message;
  return {
    type: 'state',
    state: { ...state, board: board === null ? null : await inflate(board) },
  };
}

async function inflate(bytes: Uint8Array): Promise<HostState['board']> {
  const packed = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
  const json = packed.pipeThrough(new DecompressionStream('deflate-raw'));
  const board = (await new Response(json).json()) as PackedBoard;
  return { ...board, tasks: unpackTasks(board.tasks) };
}
