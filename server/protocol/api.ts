// The wire, defined once: every request with its parameters and result, every notification.
// JSON-RPC 2.0 over the backend's local socket (Content-Length framing of vscode-jsonrpc). Both
// ends are checked against these maps.

import type {
  EpicView,
  EventView,
  TaskSnapshots,
  ImportResultView,
  LogPageView,
  MachineView,
  QuestionView,
  StatusSnapshot,
  TaskView,
  WorktreeView,
} from './views.ts';
import type { OtlpTrace } from '../core/history/otlp.ts';
import type { Report } from '../core/history/report.ts';
import type { PanelRequests } from './panel-requests.ts';
import type { RunOptions } from './run-options.ts';
import type { TaskFields } from './task-fields.ts';
import type { BoardChanges } from './panel-views.ts';
import type { PruneReport } from './prune-report.ts';
import type { WebhookList, WebhookTestResult } from './webhook-views.ts';
import type { RunStarted, Subscribed, PastMoment, UndoView } from './run-views.ts';

export type * from './run-options.ts';
export type * from './views.ts';

/**
 * Raised when a request, result or notification changes in a way that an older peer would misread.
 */
export const protocolVersion = 1;

type Nothing = Readonly<Record<string, never>>;

export interface Requests extends PanelRequests {
  readonly hello: {
    params: { token: string; client: string; version: string; protocol: number };
    result: {
      version: string;
      protocol: number;
      pid: number;
      root: string;
      /** True: this backend is older and idle; it leaves now, connect again. */
      leaving: boolean;
    };
  };
  readonly status: { params: { epic?: string }; result: StatusSnapshot };
  readonly 'epic.add': {
    params: { title: string; description?: string; runs_on?: string | null };
    result: EpicView;
  };
  readonly 'epic.list': { params: Nothing; result: readonly EpicView[] };
  readonly 'epic.show': {
    params: { id: string };
    result: EpicView & { readonly tasks: readonly TaskView[] };
  };
  readonly 'epic.edit': {
    params: { id: string; title?: string; description?: string; runs_on?: string | null };
    result: EpicView;
  };
  readonly 'epic.close': { params: { id: string }; result: EpicView };
  /**
   * `template`: one of the settings, its placeholders filled from `set`; what is given beside it
   * goes before it.
   */
  readonly 'task.add': {
    params: TaskFields & {
      title: string;
      template?: string;
      set?: Readonly<Record<string, string>>;
    };
    result: TaskView;
  };
  readonly 'task.edit': { params: TaskFields & { id: string }; result: TaskView };
  /** With `proposal`, the newest plan as a whole, whatever has become of it. */
  readonly 'task.show': { params: { id: string }; result: TaskView };
  readonly import: {
    params: {
      /** The file's text; bytes that are no UTF-8 are named by line. */
      text: string;
      bad_utf8_lines: readonly number[];
      file: string;
      format: 'auto' | 'session' | 'jsonl' | 'beads';
      dry_run?: boolean;
      update?: boolean;
      rename?: boolean;
      skip_invalid?: boolean;
      /**
       * Of a Beads file: its text when both sides were last equal. Only what differs from it is
       * taken over.
       */
      base?: string;
    };
    result: ImportResultView;
  };
  readonly export: {
    params: {
      format: 'session' | 'json' | 'yaml' | 'beads' | 'jsonl';
      /** For `beads`: the file as it is. Other tools write in it too, and what is theirs stays. */
      present?: string;
      /**
       * Both sides are kept equal: what is cancelled here gets no new line, and the lines of these
       * ids stay.
       */
      leave?: readonly string[];
    };
    result: {
      text: string;
      /**
       * Says that `present` was merged: ids of records that are newer there and were left as they
       * are.
       */
      kept?: readonly string[];
    };
  };
  readonly why: { params: { id: string }; result: { id: string; reasons: readonly string[] } };
  readonly 'log.read': {
    params: {
      id: string;
      attempt?: number;
      offset?: number;
      /**
       * The page that ends here (`limit` events back) in place of the one that begins at `offset`.
       */
      before?: number;
      limit?: number;
      /**
       * Of what is new at `offset` only the last `limit` events: `offset` of the page says where
       * they begin.
       */
      newest?: boolean;
      /**
       * Nothing new at `offset`: the answer waits for it so long at most (30 s), or until the
       * attempt is over.
       */
      wait_ms?: number;
    };
    result: LogPageView;
  };
  readonly 'log.prompt': {
    params: { id: string; attempt?: number };
    result: { task_id: string; attempt: number; prompt: string };
  };
  readonly 'events.read': {
    params: { after?: number; type?: string; task?: string; limit?: number };
    result: { events: readonly EventView[]; seq: number };
  };
  /** `board`: changes of the board come along with the events; it has to be at `after`. */
  readonly subscribe: { params: { after?: number; board?: boolean }; result: Subscribed };
  /** The state at an earlier moment; configuration as it is now. */
  readonly 'past.status': {
    params: PastMoment & { epic?: string };
    result: StatusSnapshot & { readonly at_ms: number };
  };
  readonly 'past.why': {
    params: PastMoment & { id: string };
    result: { id: string; reasons: readonly string[] };
  };
  /** The spans of a run, an epic or a task, in OTLP's JSON. */
  readonly 'trace.export': { params: { id: string }; result: OtlpTrace };
  /** As Prometheus reads them. */
  readonly metrics: { params: Nothing; result: { text: string } };
  /** What a run or an epic did with its time and money, from the feed. */
  readonly report: { params: { id: string }; result: Report };
  /** What is kept of a task's attempts, oldest first. */
  readonly snapshots: { params: { id: string }; result: TaskSnapshots };
  readonly diff: {
    /** `snapshot`: its number; the change up to it instead of the task's. */
    params: { id: string; snapshot?: number };
    result: { id: string; base: string; head: string; text: string };
  };
  readonly questions: { params: Nothing; result: readonly QuestionView[] };
  /**
   * The machines of the fleet; none where the project has one machine only. `all`: also those that
   * are gone for longer than a week.
   */
  readonly 'machines.list': { params: { all?: boolean }; result: readonly MachineView[] };

  // The requests below need the engine.
  readonly 'run.start': { params: RunOptions; result: RunStarted };
  readonly 'run.resume': {
    params: { env?: Readonly<Record<string, string>> };
    result: RunStarted | { run: null; message: string };
  };
  /**
   * Ends the agents, gives the tasks back (no attempt is used) and ends the run; `resume` goes on.
   */
  readonly 'run.stop': { params: { run?: string }; result: { stopped: readonly string[] } };
  readonly 'task.pause': { params: { id: string }; result: TaskView };
  readonly 'task.unpause': { params: { id: string; hint?: string }; result: TaskView };
  readonly 'task.cancel': { params: { id: string; reason?: string }; result: TaskView };
  readonly 'task.retry': { params: { id: string; force?: boolean }; result: TaskView };
  /** The next attempt begins with a snapshot; without a number with the last one. */
  readonly 'task.restore': {
    params: { id: string; snapshot?: number };
    result: { task: TaskView; snapshot: number };
  };
  /** `hint_reaches`: the agent hears it `now`, or gets it with its `next_prompt`. */
  readonly 'task.hint': {
    params: { id: string; text: string };
    result: TaskView & { readonly hint_reaches?: 'now' | 'next_prompt' };
  };
  readonly 'task.resolve': { params: { id: string; note: string }; result: TaskView };
  readonly 'task.send_back': { params: { id: string; text: string }; result: TaskView | EpicView };
  /**
   * `seen`: the commit that was looked at. Of a task: refused when it is another one by now; of an
   * epic: its tree is approved.
   */
  readonly approve: {
    /** `plan`: the plan that waits, as the person wants it; `seen` is `plan-<number>` then. */
    params: { id: string; seen?: string; plan?: string };
    result: TaskView | EpicView;
  };
  readonly answer: { params: { id: string; choice: string }; result: TaskView };
  /**
   * Takes a landed task or epic back by a commit that reverts it, through the gate like any
   * landing. `dry_run`: only what it would take back, and what depends on it.
   */
  /** `by`: who asks, as its events say it; absent: a person. */
  readonly undo: {
    params: { id: string; dry_run?: boolean; by?: string };
    result: UndoView;
  };
  readonly reset: {
    params: {
      ids?: readonly string[];
      completed?: boolean;
      failed?: boolean;
      claimed?: boolean;
      in_progress?: boolean;
    };
    result: { reset: readonly string[]; refused: readonly { id: string; reason: string }[] };
  };
  /** The endpoints and the newest deliveries; of secrets and paths of URLs nothing. */
  readonly 'webhooks.list': {
    params: { endpoint?: string; state?: string; limit?: number };
    result: WebhookList;
  };
  /** Posts a test message to one endpoint or to all. */
  readonly 'webhooks.test': {
    params: { endpoint?: string };
    result: { results: readonly WebhookTestResult[] };
  };
  /** Sends deliveries again: those named, or all that failed. */
  readonly 'webhooks.retry': {
    params: { ids?: readonly string[] };
    result: { retried: readonly string[] };
  };
  readonly 'worktree.list': { params: Nothing; result: readonly WorktreeView[] };
  readonly 'worktree.prune': {
    params: { dry_run?: boolean; force?: boolean };
    result: readonly WorktreeView[];
  };
  /** Removes history that is older than the settings of retention allow. */
  readonly prune: { params: { dry_run?: boolean }; result: PruneReport };
  /** Ends the backend: at once when idle; with `force`, after giving the running tasks back. */
  readonly shutdown: { params: { force?: boolean }; result: { leaving: boolean; reason: string } };
}

export type RequestName = keyof Requests;
export type Params<N extends RequestName> = Requests[N]['params'];
export type Answer<N extends RequestName> = Requests[N]['result'];

/**
 * What serves the requests: the backend over its socket, or the same code in the command's own
 * process.
 */
export type Handlers = {
  readonly [N in RequestName]: (params: Params<N>) => Promise<Answer<N>>;
};

/** How the command calls: over the socket or in its own process, it can't tell. */
export interface Client {
  call<N extends RequestName>(name: N, params: Params<N>): Promise<Answer<N>>;
  /** The feed after a number, then live; returns unsubscribe. `onEnd` when the backend is gone. */
  follow(
    after: number,
    onEvents: (events: readonly EventView[]) => void,
    onEnd: (reason: string) => void,
  ): Promise<() => void>;
  close(): void;
}

/**
 * Requests that are answered from the database alone, so a command can serve them without a
 * backend.
 */
export const dataRequests = [
  'status',
  'epic.add',
  'epic.list',
  'epic.show',
  'epic.edit',
  'epic.close',
  'task.add',
  'task.edit',
  'task.show',
  'import',
  'export',
  'why',
  'log.read',
  'log.prompt',
  'events.read',
  'report',
  'runs.list',
  'past.status',
  'past.why',
  'trace.export',
  'metrics',
  'snapshots',
  'diff',
  'questions',
  'machines.list',
  'worktree.list',
  'board.changes',
  'attempts',
  'task.move',
  'epic.move',
  'task.remove',
  'epic.remove',
  'plan.restore',
  'change',
  'file.read',
] as const satisfies readonly RequestName[];

export interface Notifications {
  /** A batch of the feed, in order, without a gap after what `subscribe` answered. */
  readonly events: {
    readonly events: readonly EventView[];
    /**
     * What they have changed on the board, for who subscribed with `board`; absent: told before, or
     * to be asked for (compare the numbers).
     */
    readonly changes?: BoardChanges;
  };
  /** The backend is about to go. */
  readonly leaving: { readonly reason: string };
}

/** A refusal on the wire: JSON-RPC error code and `data.kind`; nothing was changed. */
export const refusalErrorCode = -32010;

/** What `.drover/backend.json` (mode 0600) says about the running backend. */
export interface BackendAddress {
  readonly pid: number;
  readonly start_time: string;
  readonly socket: string;
  readonly token: string;
  readonly version: string;
  readonly protocol: number;
  /** The project's folder; missing in files of older versions. */
  readonly root?: string;
}
