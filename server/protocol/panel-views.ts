// The views of panels besides those of the command: board changes, attempts with their steps,
// changed files, checks before a run. The conventions of views.ts apply: snake_case, Unix seconds
// unless the name ends in `_ms`.

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
 * Everything that changed on the board after a feed number, in complete rows. Applying the same or
 * overlapping changes twice gives the same board.
 */
export interface BoardChanges {
  /** The number after which the changes start, as requested. */
  readonly after: number;
  /** The board's number after the changes. */
  readonly seq: number;
  readonly tasks: readonly TaskView[];
  readonly removed_tasks: readonly string[];
  /** All epics in order if any of them or its counts changed, else null. */
  readonly epics: readonly EpicView[] | null;
  readonly counts: StatusSnapshot['counts'];
  readonly progress: number;
  readonly run: RunView | null;
  readonly target: StatusSnapshot['target'];
  /** All stuck tasks; null if unchanged. */
  readonly stuck: readonly StuckView[] | null;
  /** All open questions, oldest first. */
  readonly questions: readonly QuestionView[];
  readonly holds: readonly HoldView[];
  /** Set if too much changed to send single rows. Replaces the board. */
  readonly snapshot: StatusSnapshot | null;
  /** The settings, if they may have been reloaded because a run started. */
  readonly config?: StatusSnapshot['config'];
  /** Sent with `config`: settings that do not take effect yet. Absent if all do. */
  readonly unaccepted?: NonNullable<StatusSnapshot['unaccepted']>;
}

export const stepNames = ['worktree', 'setup', 'agent', 'commit', 'gate', 'land'] as const;
export type StepName = (typeof stepNames)[number];

/** One step of an attempt. Times are Unix milliseconds; `ended_at_ms` is null while it runs. */
export interface StepView {
  readonly name: StepName;
  readonly started_at_ms: number;
  readonly ended_at_ms: number | null;
  /** `stopped`: by a person or with its run. */
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
  /** Name of the machine that ran it; null = only one machine exists. */
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
  /**
   * Relative to the repository's root, with forward slashes. For a removed file, its former path.
   */
  readonly path: string;
  /** The former path of a renamed or copied file. */
  readonly old_path: string | null;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed' | 'copied' | 'type_changed';
}

/** The change of a task or an epic relative to its base, from git: exactly what would land. */
export interface ChangeView {
  readonly id: string;
  readonly kind: 'task' | 'epic';
  readonly title: string;
  readonly base: string;
  readonly head: string;
  /** The state of the work: only in a worktree, committed, waiting for a review, or landed. */
  readonly state: 'working' | 'committed' | 'review' | 'landed';
  readonly files: readonly ChangedFileView[];
  /** True if not all files are listed. */
  readonly truncated: boolean;
  /** Lines in all files. Null if unknown. */
  readonly size: { readonly insertions: number; readonly deletions: number } | null;
}

export interface PreflightCheck {
  readonly name:
    | 'graph'
    | 'git'
    /** The repository has no commit to start from. */
    | 'commit'
    | 'target'
    /** Rules for pull requests, and the token's permissions. */
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
  /** Describes the finding in a sentence. */
  readonly message: string;
  /** The remedy; null if none is needed. */
  readonly remedy: string | null;
  /** `gate.test` would determine more. */
  readonly can_test?: true;
  /** The agent that cannot work, with the reason. Absent if another check failed. */
  readonly agent?: {
    readonly kind: string;
    readonly problem: 'missing' | 'broken' | 'signed_out';
  };
}

/** A decision that a person makes before a run. */
export interface PreflightDecision {
  readonly name: 'agent' | 'workers' | 'land' | 'gate' | 'plan' | 'budget';
  /**
   * The value that would take effect; null = none. An agent is written as `claude` or
   * `claude:opus`.
   */
  readonly value: string | number | boolean | null;
  readonly source: ConfigValueView['source'];
  /** A better value for this project; null = none is known. */
  readonly recommended: string | number | null;
  /** Explains, in a sentence, what the value means for this project. */
  readonly why: string | null;
}

export interface PreflightView {
  /** False if the run would be refused. */
  readonly can_run: boolean;
  readonly checks: readonly PreflightCheck[];
  /** Tasks that the run would work on, and how many of them could run at the same time. */
  readonly tasks: number;
  readonly width: number;
  readonly decisions: readonly PreflightDecision[];
}

/** The sandbox in which agents, gates and setups currently run. */
export interface SandboxView {
  /** The value from the settings: `auto`, `bwrap`, `off` and so on. */
  readonly mode: string;
  readonly holds: 'bwrap' | 'agent' | 'nothing';
  /** In this state, no agent, gate or setup is started. */
  readonly refuses: boolean;
  /** A sentence that names the sandbox in effect, or says why none is. */
  readonly message: string;
}

/** The facts that a person needs to continue by hand in an attempt's worktree. */
export interface TakeOverView {
  readonly task_id: string;
  readonly attempt: number;
  readonly worktree_path: string;
  readonly session_id: string;
  /** The agent's interactive program with its arguments; null if it has none. */
  readonly command: readonly string[] | null;
  readonly branch: string;
}
