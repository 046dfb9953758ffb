// The webview's side of the connection to the extension: sends numbered requests, waits for the
// replies, and receives pushes.

import { unpackTasks } from '../../server/protocol/packed-tasks.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type {
  BackendRequests,
  FirstState,
  FromWebview,
  HostActionName,
  HostActions,
  HostState,
  PackedBoard,
  PageReuse,
  Pushed,
  ToWebview,
  WebviewRequestName,
} from '../messages/messages.ts';
import { Asks } from './asks.ts';
import { inflated } from './inflated.ts';
import { reportUnhandled } from './report-failure.ts';

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
  /** Drover's own page sets all of these (extension/webviews/html.ts). */
  readonly subject?: NonNullable<Host['subject']>;
  readonly first?: FirstState | null;
  reuse?(next: PageReuse): void;
  amend?(of: Host['subject'], change: Readonly<Record<string, unknown>>): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

export type Push =
  | Exclude<Pushed, { readonly type: 'state' }>
  | { readonly type: 'state'; readonly state: HostState };

/** The extension as components see it; tests pass in a double. */
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
  /** The state that can be drawn before the first push. Absent or null if there is none. */
  readonly first?: HostState | null;
  /**
   * Only navigation and view state (folds, scroll positions, typed text), never facts of the board.
   */
  readonly memory: {
    get(): unknown;
    set(state: unknown): void;
    /** Changes a part of this subject's memory, whatever the page shows at that time. */
    amend(change: Readonly<Record<string, unknown>>): void;
  };
  /** The page's subject, known before the extension sends its state. Absent if there is none. */
  readonly subject?: { readonly id: string | null; readonly attempt: number | null };
  /**
   * The time at which the page was opened for it, by `performance.now()`. Absent if it was so from
   * the start.
   */
  readonly openedMs?: number;
}

/** Null runs all open tasks. */
export async function askForRun(host: Host | null, epic: string | null): Promise<void> {
  await (epic === null ? host?.action('runAll', {}) : host?.action('runEpic', { epic }));
}

/** A page that stays loaded while it is hidden, and shows one subject after another. */
export interface ReusablePage {
  /** Clears its content. */
  rest(): void;
  /** Shows this host's subject, which can be the same as before. */
  show(host: Host): void;
}

export function connectHost(page: ReusablePage | null = null): Host {
  const api = acquireVsCodeApi();
  const listeners = new Set<(push: Push) => void>();
  /** Decompressing a board takes a while, so later messages wait for their turn. */
  let pushes = Promise.resolve();

  const post = (message: FromWebview): void => api.postMessage(message);
  const asks = new Asks(post);
  window.addEventListener('message', (event: MessageEvent<ToWebview>) => {
    const message = event.data;
    if (message.type === 'replies') return asks.answered(message.replies);
    const tell = async (): Promise<void> => {
      if (message.type === 'rest') return page?.rest();
      if (message.type === 'reuse') {
        const startMs = performance.now();
        // This happens before the subject changes, because the page's memory belongs to the old
        // subject.
        page?.rest();
        api.reuse?.(message);
        return page?.show(hostNow(startMs));
      }
      const push = await pushOf(message);
      for (const listener of listeners) listener(push);
    };
    pushes = pushes.then(tell).catch(reportError);
  });
  const hostNow = (openedMs: number): Host => ({
    openedMs,
    backend: asks.to('backend') as Host['backend'],
    action: asks.to('host') as Host['action'],
    select: (ids) => post({ type: 'selection', ids, hasFocus: document.hasFocus() }),
    onPush(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    memory: memoryOf(api, api.subject),
    ...(api.subject === undefined ? {} : { subject: api.subject }),
    first: firstState(api.first ?? null),
  });
  const host = hostNow(0);
  reportUnhandled(host);
  return host;
}

function memoryOf(api: VsCodeApi, subject: Host['subject']): Host['memory'] {
  return {
    get: () => api.getState(),
    set: (state) => api.setState(state),
    amend: (change) => api.amend?.(subject, change),
  };
}

function firstState(first: FirstState | null): HostState | null {
  return first === null ? null : { ...first.state, board: unpacked(first.board) };
}

function unpacked(board: PackedBoard): StatusSnapshot {
  return { ...board, tasks: unpackTasks(board.tasks) };
}

async function pushOf(message: Pushed): Promise<Push> {
  if (message.type !== 'state') return message;
  const { state, board } = message;
  return {
    type: 'state',
    state: {
      ...state,
      board: board === null ? null : unpacked((await inflated(board)) as PackedBoard),
    },
  };
}
