// The protocol, defined once: every request with its parameters and result, and every notification.
// JSON-RPC 2.0 over the backend's local socket (Content-Length framing of vscode-jsonrpc). Both
// ends are checked against these maps.

import type { BoardChanges } from './panel-views.ts';
import type { BoardAnswers, boardShapes } from './requests/board.ts';
import type { EpicAnswers, epicShapes } from './requests/epics.ts';
import type { ExchangeAnswers, exchangeShapes } from './requests/exchange.ts';
import type { NoteAnswers, noteShapes } from './requests/notes.ts';
import type { ParamsOf, Shape } from './requests/fields.ts';
import type { ReviewAnswers, reviewShapes } from './requests/reviews.ts';
import type { RunAnswers, runShapes } from './requests/runs.ts';
import type { TaskAnswers, taskShapes } from './requests/tasks.ts';
import type { UpkeepAnswers, upkeepShapes } from './requests/upkeep.ts';
import type { EventView } from './views.ts';

export type * from './views.ts';

/**
 * Increase this when a request, result or notification changes in a way that an older peer would
 * misread.
 */
export const protocolVersion = 1;

/** Maps each request of a topic to its parameters, from the schema, and its result. */
type Topic<Shapes extends { readonly [N in keyof Shapes]: Shape }, Answers extends object> = {
  readonly [N in keyof Shapes & keyof Answers]: {
    readonly params: Readonly<ParamsOf<Shapes[N]>>;
    readonly result: Answers[N];
  };
};

/** Each topic is a file in `requests`: schemas of the parameters, and types of the results. */
export type Requests = Topic<typeof boardShapes, BoardAnswers> &
  Topic<typeof taskShapes, TaskAnswers> &
  Topic<typeof epicShapes, EpicAnswers> &
  Topic<typeof runShapes, RunAnswers> &
  Topic<typeof reviewShapes, ReviewAnswers> &
  Topic<typeof noteShapes, NoteAnswers> &
  Topic<typeof exchangeShapes, ExchangeAnswers> &
  Topic<typeof upkeepShapes, UpkeepAnswers>;

export type RequestName = keyof Requests;
export type Params<N extends RequestName> = Requests[N]['params'];
export type Answer<N extends RequestName> = Requests[N]['result'];

/** Serves the requests, in the backend or in the command's own process. */
export type Handlers = {
  readonly [N in RequestName]: (params: Params<N>) => Promise<Answer<N>>;
};

/** The interface for requests, over the socket or in the command's own process. */
export interface Client {
  call<N extends RequestName>(name: N, params: Params<N>): Promise<Answer<N>>;
  /**
   * Follows the feed after a number. Returns a function that unsubscribes. `onEnd` is called when
   * the backend is gone.
   */
  follow(
    after: number,
    onEvents: (events: readonly EventView[]) => void,
    onEnd: (reason: string) => void,
  ): Promise<() => void>;
  close(): void;
}

/**
 * Requests that the database alone can answer, so that a command can serve them without a backend.
 */
export const dataRequests = [
  'status',
  'epic.add',
  'epic.list',
  'epic.show',
  'epic.pull',
  'epic.reply',
  'epic.switch',
  'epic.edit',
  'epic.close',
  'task.add',
  'task.edit',
  'task.show',
  'attachment.add',
  'import',
  'export',
  'why',
  'log.read',
  'log.prompt',
  'spending',
  'events.read',
  'report',
  'runs.list',
  'transcripts.search',
  'past.status',
  'past.why',
  'trace.export',
  'metrics',
  'snapshots',
  'diff',
  'questions',
  'machines.list',
  'machines.drain',
  'line.release',
  'worktree.list',
  'worktree.sizes',
  'board.changes',
  'attempts',
  'task.move',
  'epic.move',
  'task.remove',
  'epic.remove',
  'plan.restore',
  'change',
  'file.read',
  'review.show',
  'review.overrule',
  'notes.list',
  'notes.add',
  'notes.keep',
  'notes.drop',
] as const satisfies readonly RequestName[];

export interface Notifications {
  /** A batch of the feed, in order and without a gap after the response to `subscribe`. */
  readonly events: {
    readonly events: readonly EventView[];
    /**
     * The board changes of these events, for clients that subscribed with `board`. Absent if they
     * were already sent or must be requested (compare the numbers).
     */
    readonly changes?: BoardChanges;
  };
  /** The backend is about to exit. */
  readonly leaving: { readonly reason: string };
}

/** A refusal: this JSON-RPC error code, with `data.kind`. Nothing was changed. */
export const refusalErrorCode = -32010;

/** The content of `.drover/backend.json` (mode 0600), which describes the running backend. */
export interface BackendAddress {
  readonly pid: number;
  readonly start_time: string;
  readonly socket: string;
  readonly token: string;
  readonly version: string;
  readonly protocol: number;
  /** The project's folder. Missing in files of older versions. */
  readonly root?: string;
}
