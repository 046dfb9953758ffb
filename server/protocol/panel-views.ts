// The views of the panels besides those of the command: changes of the board, attempts with their
// steps, changed files, checks before a run. The same conventions as views.ts: snake_case, Unix
// seconds unless the name says `_ms`.

import type {
  ConfigValueView,
  EpicView,
  HoldView,
  QuestionView,
  RunView,
  StatusSnapshot,
  StuckView,
  TaskView,
} from './views.ts';

/**
 * Everything that has changed on the board after a number of the feed, each row whole: applying the
 * same changes twice, or changes that overlap, gives the same board.
 */
export interface BoardChanges {
  /** The number after which the changes start, as requested. */
  readonly after: number;
  /** The board has this number once they are applied. */
  readonly seq: number;
  readonly tasks: readonly TaskView[];
  readonly removed_tasks: readonly string[];
  /** All epics in their order when any of them (or a count of one) changed, else null. */
  readonly epics: readonly EpicView[] | null;
  readonly counts: StatusSnapshot['counts'];
  readonly progress: number;
  readonly run: RunView | null;
  readonly target: StatusSnapshot['target'];
  /** All that is stuck; null when that is as it was. */
  readonly stuck: readonly StuckView[] | null;
  /** All open questions, oldest first. */
  readonly questions: readonly QuestionView[];
  readonly holds: readonly HoldView[];
  /** Set if too much has changed to be sent row by row: it replaces the board. */
  readonly snapshot: StatusSnapshot | null;
  /** The settings, if they may have been read again (a run started). */
  readonly config?: StatusSnapshot['config'];
  /** Next to `config`: the settings that do not take effect yet. Absent if all do. */
  readonly unaccepted?: NonNullable<StatusSnapshot['unaccepted']>;
}

export const stepNames = ['worktree', 'setup', 'agent', 'commit', 'gate', 'land'] as const;
export type StepName = (typeof stepNames)[number];

/** One step of an attempt. Times are Unix milliseconds; `ended_at_ms` is null while it runs. */
export interface StepView {
  readonly name: StepName;
  readonly started_at_ms: number;
  readonly ended_at_ms: number | null;
  /** `stopped`: by a person, or with its run. */
  readonly outcome: 'running' | 'done' | 'failed' | 'stopped';
}

export interface AttemptView {
  readonly task_id: string;
  readonly number: number;
  readonly state: string;
  readonly agent: string;
  readonly model: string | null;
  readonly session_id: string;
  readonly branch: string;
  readonly base_sha: string | null;
  readonly commit_sha: string | null;
  readonly worktree_path: string | null;
  /** Name of the machine that it ran on; null = there is one machine only. */
  readonly machine: string | null;
  readonly started_at_ms: number;
  readonly ended_at_ms: number | null;
  readonly failure_kind: string | null;
  readonly error: string | null;
  readonly summary: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: number;
  readonly steps: readonly StepView[];
}

export interface ChangedFileView {
  /** Relative to the repository's root, with slashes. For a removed file the path it had. */
  readonly path: string;
  /** The former path of a renamed or copied file. */
  readonly old_path: string | null;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed' | 'copied' | 'type_changed';
}

/**
 * The change of a task or an epic against its base, from git: exactly the change that would land.
 */
export interface ChangeView {
  readonly id: string;
  readonly kind: 'task' | 'epic';
  readonly title: string;
  readonly base: string;
  readonly head: string;
  /** The state of the work: only in a worktree, committed, waiting for a person, or landed. */
  readonly state: 'working' | 'committed' | 'review' | 'landed';
  readonly files: readonly ChangedFileView[];
  /** True when there are more files than are listed. */
  readonly truncated: boolean;
  /** Lines of all files. Null if unknown. */
  readonly size: { readonly insertions: number; readonly deletions: number } | null;
}

export interface PreflightCheck {
  readonly name:
    | 'graph'
    | 'git'
    /** The repository has no commit that work could start from. */
    | 'commit'
    | 'target'
    /** The rules for pull requests, and the rights of the token. */
    | 'forge'
    | 'agent'
    | 'gate'
    | 'setup'
    | 'disk'
    | 'sandbox'
    | 'checkout'
    | 'machines'
    | 'width';
  readonly outcome: 'ok' | 'note' | 'warning' | 'error';
  /** A sentence that describes the finding. */
  readonly message: string;
  /** The remedy; null if none is needed. */
  readonly remedy: string | null;
  /** `gate.test` would reveal more. */
  readonly can_test?: true;
  /** Which agent cannot work, and why; absent if another check failed. */
  readonly agent?: {
    readonly kind: string;
    readonly problem: 'missing' | 'broken' | 'signed_out';
  };
}

/** One thing that a person decides before a run. */
export interface PreflightDecision {
  readonly name: 'agent' | 'workers' | 'land' | 'gate' | 'plan' | 'budget';
  /** The value that would take effect; null = none. An agent as `claude` or `claude:opus`. */
  readonly value: string | number | boolean | null;
  readonly source: ConfigValueView['source'];
  /** The better value for this project; null = no better one is known. */
  readonly recommended: string | number | null;
  /** Its meaning for this project, in a sentence. */
  readonly why: string | null;
}

export interface PreflightView {
  /** False if the run would be refused. */
  readonly can_run: boolean;
  readonly checks: readonly PreflightCheck[];
  /** Tasks that the run would work on, and the maximum number that could run at the same time. */
  readonly tasks: number;
  readonly width: number;
  readonly decisions: readonly PreflightDecision[];
}

/** Within which walls agents, gate and setup run now. */
export interface SandboxView {
  /** The value from the settings: `auto`, `bwrap`, `off` … */
  readonly mode: string;
  readonly holds: 'bwrap' | 'agent' | 'nothing';
  /** No agent, gate or setup is started as things are. */
  readonly refuses: boolean;
  /** A sentence: the choice in effect, or why none is. */
  readonly message: string;
}

/** The facts that a person needs to continue by hand in an attempt's worktree. */
export interface TakeOverView {
  readonly task_id: string;
  readonly attempt: number;
  readonly worktree_path: string;
  readonly session_id: string;
  /** The agent's own interactive program with its arguments; null when this agent has none. */
  readonly command: readonly string[] | null;
  readonly branch: string;
}
