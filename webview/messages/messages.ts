// The messages between a webview and the extension; this file is the only one that both sides
// import. A webview sends requests (`ask` → `reply` with the same number) and gets pushes (`push`).
// Every push is complete in itself: VS Code silently drops messages to a hidden webview, so a
// webview requests everything again when it is shown.

import type { PackedTasks } from '../../server/protocol/packed-tasks.ts';
import type { BoardChanges } from '../../server/protocol/panel-views.ts';
import type { RequestName, Requests } from '../../server/protocol/api.ts';
import type { ShownPlan } from '../../server/protocol/spec-plan.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';

export type BackendRequests = Requests;
export type BackendRequestName = RequestName;

/** Backend requests with which a webview only reads. */
export const readingRequests = [
  'status',
  'task.show',
  'why',
  'attempts',
  'runs.list',
  'transcripts.search',
  'report',
  'past.status',
  'log.read',
  'log.prompt',
  'events.read',
  'questions',
  'board.changes',
  'notes.list',
  'review.show',
  'worktree.sizes',
] as const satisfies readonly BackendRequestName[];

/** Backend requests that a webview may send; the extension forwards no others. */
export const webviewRequests = [
  ...readingRequests,
  'epic.add',
  'epic.edit',
  'epic.close',
  'epic.move',
  'epic.remove',
  'task.add',
  'task.edit',
  'attachment.add',
  'task.move',
  'task.remove',
  'plan.restore',
  'task.pause',
  'task.unpause',
  'task.cancel',
  'task.retry',
  'task.hint',
  'task.resolve',
  'task.send_back',
  'answer',
  'approve',
  'target.follow',
  'notes.add',
  'notes.keep',
  'notes.drop',
  'review.overrule',
  'worktree.prune',
] as const satisfies readonly BackendRequestName[];

export type WebviewRequestName = (typeof webviewRequests)[number];

/** Actions that only the extension can perform for a webview, because it controls the editor. */
export interface HostActions {
  /** Requests the extension's state, at the start and again when changes are missing. */
  readonly hello: { params: Nothing; result: Nothing };
  readonly runEpic: { params: { epic: string }; result: Nothing };
  readonly runAll: { params: Nothing; result: Nothing };
  /** Runs this task and its blockers. */
  readonly runTask: { params: { task: string }; result: Nothing };
  /** Retries a task; starts a run like the last one if none is active. */
  readonly retry: { params: { task: string }; result: Nothing };
  /** Sends a reviewed task or epic back with feedback, and starts a run if none is active. */
  readonly sendBack: { params: { id: string; text: string }; result: Nothing };
  /**
   * A blank note counts as none; `anyway` starts the task even though its branch fails the gate.
   */
  readonly resolve: {
    params: { task: string; note: string; anyway?: boolean };
    result: Nothing;
  };
  /**
   * Adds a task that follows up on a finished one with this text, starts a run if none is active,
   * and opens the task's page.
   */
  readonly followUp: {
    params: { task: string; text: string; plansFirst: boolean };
    result: Nothing;
  };
  /** Files of the repository whose path contains this text, best matches first, up to a limit. */
  readonly findFiles: { params: { text: string }; result: { paths: readonly string[] } };
  /** The user's messages to agents in this workspace, oldest first; `add` is appended. */
  readonly sentMessages: { params: { add?: string }; result: { texts: readonly string[] } };
  /** Lands an epic whose tasks are done: starts a run like its last one. */
  readonly landEpic: { params: { epic: string }; result: Nothing };
  readonly stopRun: { params: Nothing; result: Nothing };
  /** `place`: the position in the attempt's log, instead of its end. */
  readonly openStream: {
    params: { task: string; attempt?: number; place?: LogPlace };
    result: Nothing;
  };
  /** The position that the panel was opened for, sent once. Null if there is none. */
  readonly readPlace: { params: Nothing; result: { place: LogPlace | null } };
  /** The output of an attempt's step, as a document. */
  readonly openStepLog: {
    params: { task: string; attempt: number; step: 'setup' | 'gate' };
    result: Nothing;
  };
  /**
   * Shows the page of a task without moving the focus, if VS Code's lists open items by a single
   * click.
   */
  readonly previewTask: { params: { task: string }; result: Nothing };
  readonly openGrid: { params: Nothing; result: Nothing };
  readonly openWorktrees: { params: Nothing; result: Nothing };
  /** Retries failed tasks and those behind a failing branch; starts a run if none is active. */
  readonly retryFailed: { params: { ids: readonly string[] }; result: Nothing };
  readonly openBoard: { params: { epic?: string }; result: Nothing };
  readonly review: { params: { id: string }; result: Nothing };
  /** Compares the changes of a task's candidates. */
  readonly compare: { params: { task: string }; result: Nothing };
  readonly takeOver: { params: { task: string }; result: Nothing };
  readonly giveBack: { params: { task: string }; result: Nothing };
  readonly openWorktree: { params: { task: string }; result: Nothing };
  /** Opens the conflict of a task in VS Code's merge editor. */
  readonly mergeConflict: { params: { task: string }; result: Nothing };
  readonly undoLanding: { params: { id: string }; result: Nothing };
  /**
   * Runs a Drover command without parameters (create a sample, open settings, the walkthrough …).
   */
  readonly command: { params: { id: string }; result: Nothing };
  readonly copy: { params: { text: string }; result: Nothing };
  /**
   * A file of the repository or of a worktree; the extension checks that it is inside one of them.
   */
  readonly openFile: {
    /**
     * `sha`: opens the file as in this commit, read-only; the path is then relative to the root.
     */
    params: { path: string; line?: number; sha?: string };
    result: Nothing;
  };
  /**
   * A file of the repository that the user chose in VS Code's own picker, as a path relative to its
   * root; null if none was chosen.
   */
  readonly pickFile: { params: Nothing; result: { path: string | null } };
  /** Images that the user chose in VS Code's dialog, stored in the project. */
  readonly pickImages: { params: Nothing; result: Attached };
  /** Dropped files: images are stored in the project, others are referenced by their path. */
  readonly attachFiles: { params: { uris: readonly string[] }; result: Attached };
  /**
   * The selection in a visible editor, as Markdown with its location; with `text`, only if it is
   * this text. Null if nothing is selected.
   */
  readonly quoteSelection: { params: { text?: string }; result: { text: string | null } };
  /** An image that the project stores, in base64; null if it is missing. */
  readonly readImage: { params: { name: string }; result: { content: string | null } };
  /** Asks the forge what landing by a pull request will need, as `drover doctor --forge` does. */
  readonly readRules: { params: Nothing; result: RulesReport };
  /** The plan that the panel was opened for; null if it was added or discarded. */
  readonly readPlan: { params: Nothing; result: { plan: ShownPlan | null } };
  /** Dry run of adding the lines of a plan. */
  readonly checkPlan: { params: { text: string }; result: PlanCheck };
  /** Adds the lines of a plan, all of them or none, and closes its panel. */
  readonly addPlan: { params: { text: string }; result: Nothing };
  /** Opens the lines of a plan in an editor instead of its panel. */
  readonly editPlan: { params: { text: string }; result: Nothing };
  readonly dropPlan: { params: Nothing; result: Nothing };
  /** Shows a VS Code message; resolves with the chosen button, or null. */
  readonly notify: {
    params: { level: 'info' | 'warning' | 'error'; text: string; buttons?: readonly string[] };
    result: { button: string | null };
  };
  /**
   * An item that the user chose from a list in VS Code's own picker with its search; null if none
   * was chosen.
   */
  readonly pick: {
    params: {
      title: string;
      items: readonly { readonly id: string; readonly label: string; readonly detail?: string }[];
    };
    result: { id: string | null };
  };
  /**
   * A measurement that the webview made of itself (first paint, frames), for the output channel and
   * benches.
   */
  readonly measured: { params: { name: string; ms: number }; result: Nothing };
  /**
   * Whether keys go to the rows of the tree, which VS Code does not know for any view. `counts`:
   * VS Code executes those that the manifest declares; otherwise the tree does so itself.
   */
  readonly keysHere: { params: { here: boolean }; result: { counts: boolean } };
  /** Answered after the commands of all keys that were pressed before and left to VS Code. */
  readonly keysDone: { params: Nothing; result: Nothing };
}

type Nothing = Readonly<Record<string, never>>;

/** A line of a log that a search found. */
export interface LogPlace {
  /** Offset of the line. */
  readonly offset: number;
  /** The search terms. */
  readonly words: string;
}

export interface RulesReport {
  /** No pull request can land. */
  readonly isBlocked: boolean;
  /** Those that need a person first. */
  readonly rows: readonly {
    readonly topic: string;
    readonly level: 'error' | 'warning' | 'pass';
    readonly message: string;
  }[];
}

export interface PlanCheck {
  /** The reason why nothing can be added; null if everything can. */
  readonly problem: string | null;
  /** Counts of tasks. */
  readonly fresh: number;
  readonly changed: number;
  readonly unchanged: number;
}

export interface Attached {
  /** Markdown for the description. */
  readonly texts: readonly string[];
  /** The reasons why the others were not added, one sentence each. */
  readonly refused: readonly string[];
}

export type HostActionName = keyof HostActions;

export type WebviewName =
  | 'tree'
  | 'inbox'
  | 'stream'
  | 'grid'
  | 'board'
  | 'run'
  | 'plan'
  | 'worktrees'
  | 'rules';

export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected'; readonly version: string; readonly root: string }
  /** Nothing works until a person acts; `action` names a command that helps. */
  | {
      readonly kind: 'unavailable';
      readonly reason:
        | 'no_folder'
        | 'untrusted'
        | 'no_git'
        | 'git_too_old'
        | 'no_repository'
        | 'not_initialised'
        | 'backend_version'
        | 'backend_failed'
        | 'backend_stopped';
      readonly message: string;
      readonly action: { readonly command: string; readonly title: string } | null;
    };

/** Everything that a webview needs to start; `board` is null without a connection. */
export interface HostState {
  readonly webview: WebviewName;
  readonly connection: Connection;
  readonly board: StatusSnapshot | null;
  /** The subject of this webview: a task and attempt (stream), or an epic (board). */
  readonly subject: { readonly id: string | null; readonly attempt: number | null };
  /** Names of agents that can be selected for a task. */
  readonly agents: readonly string[];
  readonly settings: { readonly showPreflight: boolean; readonly reduceMotion: boolean };
}

/**
 * The state embedded in the page at the time when the page was written. It applies only when the
 * page is first shown, because VS Code shows the same page again when a hidden webview returns.
 */
export interface FirstState {
  readonly state: Omit<HostState, 'board'>;
  readonly board: PackedBoard;
}

/** A board with its rows in compact form. */
export type PackedBoard = Omit<StatusSnapshot, 'tasks'> & { readonly tasks: PackedTasks };

/** The JSON of a `PackedBoard` in UTF-8, deflated (raw, RFC 1951); null without a board. */
export type BoardBytes = Uint8Array | null;

/** The result of a request. */
export type Reply =
  | { readonly ask: number; readonly ok: true; readonly result: unknown }
  /** The JSON of a long result in UTF-8, deflated (raw, RFC 1951). */
  | { readonly ask: number; readonly ok: true; readonly packed: Uint8Array }
  | {
      readonly ask: number;
      readonly ok: false;
      readonly error: { readonly kind: string; readonly message: string };
    };

/** Messages to a webview. */
export type ToWebview =
  /** The replies to a batch of requests that were ready at the same time. */
  | { readonly type: 'replies'; readonly replies: readonly Reply[] }
  | Pushed
  | PageReuse
  /** The page is hidden: it draws nothing and requests nothing until it is reused. */
  | { readonly type: 'rest' };

/** The page for single clicks shows something else, with the same script, as if it were new. */
export interface PageReuse {
  readonly type: 'reuse';
  readonly subject: HostState['subject'];
  readonly first: FirstState | null;
}

/** The messages that a webview gets without a request. */
export type Pushed =
  | { readonly type: 'state'; readonly state: Omit<HostState, 'board'>; readonly board: BoardBytes }
  | { readonly type: 'changes'; readonly changes: BoardChanges }
  /** A VS Code command (key, palette, context menu) that this webview executes itself. */
  | {
      readonly type: 'do';
      readonly action: WebviewAction;
      readonly ids: readonly string[];
      /** Set for a key that the manifest declares for this webview. */
      readonly byKey?: true;
    };

export const webviewActions = [
  'open',
  'run',
  'newTask',
  'newEpic',
  'rename',
  'remove',
  'filter',
  'undo',
  'redo',
  'moveUp',
  'moveDown',
  'moveToEpic',
  'addBlocker',
  'removeBlocker',
  'duplicate',
  'archive',
  'collapseAll',
  'find',
  'copy',
  'focus',
  'place',
] as const;
export type WebviewAction = (typeof webviewActions)[number];

/** A webview's request, with a number that its reply repeats. */
export type Ask =
  | {
      readonly ask: number;
      readonly to: 'backend';
      readonly name: WebviewRequestName;
      readonly params: unknown;
    }
  | {
      readonly ask: number;
      readonly to: 'host';
      readonly name: HostActionName;
      readonly params: unknown;
    };

/** Messages from a webview. */
export type FromWebview =
  /** Requests that the page sent in one turn. */
  | { readonly type: 'asks'; readonly asks: readonly Ask[] }
  /** The focused rows, so that VS Code commands know their target. */
  | { readonly type: 'selection'; readonly ids: readonly string[]; readonly hasFocus: boolean };
