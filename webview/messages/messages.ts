// The messages between a webview and the extension; both sides import this file and nothing else of
// each other. A webview asks (`ask` → `reply` with the same number) and gets pushes (`push`). Every
// push is complete in itself: VS Code silently drops messages to a hidden webview, so a webview
// requests everything again when it is shown.

import type { PackedTasks } from '../../server/protocol/packed-tasks.ts';
import type { BoardChanges } from '../../server/protocol/panel-views.ts';
import type { RequestName, Requests } from '../../server/protocol/api.ts';
import type { ShownPlan } from '../../server/protocol/spec-plan.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';

export type BackendRequests = Requests;
export type BackendRequestName = RequestName;

/** Requests of the backend by which a webview only reads. */
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

/** Requests of the backend that a webview may make; the extension passes nothing else on. */
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

/** Actions that only the extension can do for a webview: it has the editor. */
export interface HostActions {
  /** Requests the extension's state: first of all, and again when changes are missing. */
  readonly hello: { params: Nothing; result: Nothing };
  readonly runEpic: { params: { epic: string }; result: Nothing };
  readonly runAll: { params: Nothing; result: Nothing };
  /** Runs this task and its blockers. */
  readonly runTask: { params: { task: string }; result: Nothing };
  /** Retries a task; starts a run like the last one if none is active. */
  readonly retry: { params: { task: string }; result: Nothing };
  /** Sends a reviewed task or epic back with feedback, and starts a run if none is active. */
  readonly sendBack: { params: { id: string; text: string }; result: Nothing };
  /** A blank note counts as none; `anyway`: although its branch fails the gate. */
  readonly resolve: {
    params: { task: string; note: string; anyway?: boolean };
    result: Nothing;
  };
  /**
   * Adds a task that continues a finished one with this text, starts a run if none is active, and
   * opens its page.
   */
  readonly followUp: {
    params: { task: string; text: string; plansFirst: boolean };
    result: Nothing;
  };
  /** Files of the repository whose path has this text, the best first; not all of many. */
  readonly findFiles: { params: { text: string }; result: { paths: readonly string[] } };
  /** A person's messages to agents of this workspace, oldest first; `add` is put at the end. */
  readonly sentMessages: { params: { add?: string }; result: { texts: readonly string[] } };
  /** Lands an epic whose tasks are done: starts a run like its last one. */
  readonly landEpic: { params: { epic: string }; result: Nothing };
  readonly stopRun: { params: Nothing; result: Nothing };
  /** `place`: the place in the log of the attempt, instead of its end. */
  readonly openStream: {
    params: { task: string; attempt?: number; place?: LogPlace };
    result: Nothing;
  };
  /** The place that the panel was opened for, sent once. Null if there is none. */
  readonly readPlace: { params: Nothing; result: { place: LogPlace | null } };
  /** The output of an attempt's step, as a document. */
  readonly openStepLog: {
    params: { task: string; attempt: number; step: 'setup' | 'gate' };
    result: Nothing;
  };
  /** Shows the page of a task beside the focus, if VS Code's lists open by a single click. */
  readonly previewTask: { params: { task: string }; result: Nothing };
  readonly openGrid: { params: Nothing; result: Nothing };
  readonly openWorktrees: { params: Nothing; result: Nothing };
  /** Retries failed tasks and those behind a failing branch; starts a run if none is active. */
  readonly retryFailed: { params: { ids: readonly string[] }; result: Nothing };
  readonly openBoard: { params: { epic?: string }; result: Nothing };
  readonly review: { params: { id: string }; result: Nothing };
  /** The changes of a task's candidates, one against another. */
  readonly compare: { params: { task: string }; result: Nothing };
  readonly takeOver: { params: { task: string }; result: Nothing };
  readonly giveBack: { params: { task: string }; result: Nothing };
  readonly openWorktree: { params: { task: string }; result: Nothing };
  /** Opens the conflict of a task in VS Code's merge editor. */
  readonly mergeConflict: { params: { task: string }; result: Nothing };
  readonly undoLanding: { params: { id: string }; result: Nothing };
  /**
   * Runs a command of Drover's that has no parameters (start a sample, open settings, the
   * walkthrough …).
   */
  readonly command: { params: { id: string }; result: Nothing };
  readonly copy: { params: { text: string }; result: Nothing };
  /**
   * A file of the repository or of a worktree; the extension checks that it is inside one of them.
   */
  readonly openFile: {
    /** `sha`: as the file is in this commit, read-only; the path is relative to the root then. */
    params: { path: string; line?: number; sha?: string };
    result: Nothing;
  };
  /**
   * A file of the repository, chosen in VS Code's own picker: its path from the root; null when
   * none was chosen.
   */
  readonly pickFile: { params: Nothing; result: { path: string | null } };
  /** Images chosen in VS Code's dialog, kept in the project. */
  readonly pickImages: { params: Nothing; result: Attached };
  /** Files that were dropped: images are kept in the project, others are named by their path. */
  readonly attachFiles: { params: { uris: readonly string[] }; result: Attached };
  /**
   * The selection in a visible editor, as Markdown with its place; with `text` only if it is this
   * text. Null if nothing is selected.
   */
  readonly quoteSelection: { params: { text?: string }; result: { text: string | null } };
  /** An image that the project keeps, in base64; null when it is not there. */
  readonly readImage: { params: { name: string }; result: { content: string | null } };
  /** The plan that the panel was opened for; null when it was added or discarded. */
  readonly readPlan: { params: Nothing; result: { plan: ShownPlan | null } };
  /** Tries to add the lines of a plan, and changes nothing. */
  readonly checkPlan: { params: { text: string }; result: PlanCheck };
  /** Adds the lines of a plan, all of them or none, and closes its panel. */
  readonly addPlan: { params: { text: string }; result: Nothing };
  /** Opens the lines of a plan in an editor instead of its panel. */
  readonly editPlan: { params: { text: string }; result: Nothing };
  readonly dropPlan: { params: Nothing; result: Nothing };
  /** Shows a message of VS Code; resolves with the button that was chosen, null when none was. */
  readonly notify: {
    params: { level: 'info' | 'warning' | 'error'; text: string; buttons?: readonly string[] };
    result: { button: string | null };
  };
  /** One of a list, in VS Code's own picker with its search; null when none was chosen. */
  readonly pick: {
    params: {
      title: string;
      items: readonly { readonly id: string; readonly label: string; readonly detail?: string }[];
    };
    result: { id: string | null };
  };
  /**
   * A measurement that the webview made of itself (first paint, frames): sent to the output channel
   * and to benches.
   */
  readonly measured: { params: { name: string; ms: number }; result: Nothing };
  /** Whether keys go to the rows of the tree, which VS Code knows of no view. */
  readonly keysHere: { params: { here: boolean }; result: Nothing };
  /** Answered behind the commands of all keys that were pressed before and left to VS Code. */
  readonly keysDone: { params: Nothing; result: Nothing };
}

type Nothing = Readonly<Record<string, never>>;

/** A line of a log that a search has found. */
export interface LogPlace {
  /** Offset of the line. */
  readonly offset: number;
  /** The words of the search. */
  readonly words: string;
}

export interface PlanCheck {
  /** Why none of it can be added; null if all of it can. */
  readonly problem: string | null;
  /** Counts of tasks. */
  readonly fresh: number;
  readonly changed: number;
  readonly unchanged: number;
}

export interface Attached {
  /** Markdown for the description. */
  readonly texts: readonly string[];
  /** Why the others were not added, a sentence each. */
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
  | 'worktrees';

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

/** All a webview needs to start; `board` is null without a connection. */
export interface HostState {
  readonly webview: WebviewName;
  readonly connection: Connection;
  readonly board: StatusSnapshot | null;
  /** The subject of this webview: a task and attempt (stream), an epic (board). */
  readonly subject: { readonly id: string | null; readonly attempt: number | null };
  /** Names of agents that can be chosen for a task. */
  readonly agents: readonly string[];
  readonly settings: { readonly showPreflight: boolean; readonly reduceMotion: boolean };
}

/**
 * The state in the page itself, as it was when the page was written: it counts only when the page
 * is shown for the first time. VS Code shows the same page again when a hidden webview comes back.
 */
export interface FirstState {
  readonly state: Omit<HostState, 'board'>;
  readonly board: PackedBoard;
}

/** A board with its rows packed. */
export type PackedBoard = Omit<StatusSnapshot, 'tasks'> & { readonly tasks: PackedTasks };

/** The JSON of a `PackedBoard` in UTF-8, deflated (raw, RFC 1951); null without a board. */
export type BoardBytes = Uint8Array | null;

/** The result of an ask. */
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
  /** The replies of one batch of asks that were ready together. */
  | { readonly type: 'replies'; readonly replies: readonly Reply[] }
  | Pushed
  | PageReuse
  /** The page is hidden: it draws nothing and requests nothing until it is reused. */
  | { readonly type: 'rest' };

/** The page of a single click shows something else: with the same script, as if it were new. */
export interface PageReuse {
  readonly type: 'reuse';
  readonly subject: HostState['subject'];
  readonly first: FirstState | null;
}

/** The messages that a webview gets without a request. */
export type Pushed =
  | { readonly type: 'state'; readonly state: Omit<HostState, 'board'>; readonly board: BoardBytes }
  | { readonly type: 'changes'; readonly changes: BoardChanges }
  /** A command of VS Code (key, palette, context menu) that this webview carries out itself. */
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

/** A request of a webview, by a number that its reply has, too. */
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
  /** Asked in one turn of the page. */
  | { readonly type: 'asks'; readonly asks: readonly Ask[] }
  /** The focused rows, so that commands of VS Code know their target. */
  | { readonly type: 'selection'; readonly ids: readonly string[]; readonly hasFocus: boolean };
