// The views of clients: `--json` prints exactly these shapes, and panels render them. Keys are
// snake_case; times are Unix seconds; missing values are null.

import type { WrongState } from '../core/work/wrong-state.ts';
import type { BlockCause } from '../core/plan/block-cause.ts';
import type { ForecastView, GateView, TaskRuleView } from './task-fields.ts';
import type { MachineState } from '../core/work/machines.ts';
import type { LandMode } from '../core/plan/task.ts';
import type { TaskStatus } from '../core/plan/state.ts';
import type { LogLineView } from './log-line.ts';

export interface CandidateView {
  /** Counts from 1 among all candidates of its task. */
  readonly number: number;
  /** Lines that its change adds and removes; null until it has passed the gate. */
  readonly added_lines: number | null;
  readonly removed_lines: number | null;
}

export interface TaskView extends TaskRuleView {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly epic_id: string | null;
  readonly parent_id: string | null;
  readonly type: string;
  readonly status: TaskStatus;
  readonly priority: number;
  readonly labels: readonly string[];
  readonly blocked_by: readonly string[];
  /** Blockers that have not been completed and landed. */
  readonly waits_for: readonly string[];
  readonly blocked_reason: string | null;
  /** The reason as data, for causes that clients handle specially. */
  readonly block: BlockCause | null;
  readonly review_kind: string | null;
  readonly attempts: number;
  readonly max_attempts: number;
  /**
   * The place of the running attempt's agent, else the place that the task requests; null = use the
   * epic's or the settings.
   */
  readonly runs_on: string | null;
  readonly next_attempt_at: number | null;
  readonly waiting_until: number | null;
  /**
   * The step of a running attempt: worktree, setup, agent, commit, gate, land; null if none is
   * running.
   */
  readonly phase: string | null;
  /** The sandbox of its running agent; null = no agent runs, or unknown. */
  readonly sandbox?: 'bwrap' | 'agent' | 'nothing' | 'worker' | null;
  /** The running attempt's, else the task's own. */
  readonly agent: string | null;
  /** The running attempt's, else the task's own; null = the agent's choice, or the settings'. */
  readonly model: string | null;
  /** The task that this one is a candidate of. */
  readonly candidate_of: string | null;
  /** Null if it is not a candidate. */
  readonly candidate: CandidateView | null;
  readonly base_sha: string | null;
  readonly branch: string | null;
  readonly commit_sha: string | null;
  readonly landed_sha: string | null;
  /** The branch that its work landed on: the target, or that of an epic that lands as a whole. */
  readonly landed_on: string | null;
  readonly worktree_path: string | null;
  /**
   * Name of the machine that works on it or has its worktree; null = none, or only one machine
   * exists. Absent in an older backend.
   */
  readonly machine: string | null;
  readonly conflict_files: readonly string[];
  readonly held_files: readonly string[];
  readonly verdict: string;
  readonly verdict_reason: string | null;
  readonly last_error: string | null;
  readonly acceptance_criteria: readonly string[];
  /** Estimated US dollars over all attempts. */
  readonly cost: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly warnings: readonly string[];
  /** When the running attempt started (Unix seconds); null if none is running. */
  readonly started_at: number | null;
  /** Refs that keep work of stopped or failed attempts. */
  readonly rescue_refs: readonly string[];
  /** Position in the user's order; smaller comes first. */
  readonly position: number;
  /**
   * The plan that waits for a person (`review_kind` is `plan`). A board contains only its start.
   */
  readonly proposal: PlanView | null;
  /** Other work that it overlaps before either has landed. Absent if none. */
  readonly forecast?: readonly ForecastView[];
  /** The gate that is testing its work. Absent if none is. */
  readonly running_gate?: GateView;
}

export interface PlanView {
  /** Counts from 1, one per round. */
  readonly number: number;
  /** The attempt that made it. */
  readonly attempt: number;
  readonly state: 'proposed' | 'approved' | 'sent_back' | 'dropped';
  readonly text: string;
  /** Explains why the plan was sent back. */
  readonly comment: string | null;
  /** Unix seconds. */
  readonly created_at: number;
}

export type Counts = { readonly total: number } & { readonly [S in TaskStatus]: number };

export interface EpicView {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly status: 'open' | 'closed';
  readonly counts: Counts;
  readonly progress: number;
  readonly branch: string | null;
  readonly landed_sha: string | null;
  /**
   * Progress of its landing as a whole: needs_review, landing, conflict, gate_failed, landed; null
   * before.
   */
  readonly landing_state: string | null;
  /** The obstacle, as a sentence. */
  readonly landing_note: string | null;
  readonly created_at: number;
}

export interface RunView {
  readonly id: string;
  readonly active: boolean;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly target_branch: string;
  readonly result_branch: string | null;
  readonly base_sha: string | null;
  readonly workers: number;
  readonly epic_id: string | null;
  /** The tasks that it was started for, with their blockers. Absent for the whole scope. */
  readonly tasks?: readonly string[];
  readonly land: LandMode;
}

export interface QuestionView {
  readonly id: string;
  readonly task_id: string;
  readonly attempt: number;
  /** The agent's own number of its request, as in the attempt's log. */
  readonly request_id: string;
  readonly kind: 'permission' | 'question' | 'review';
  readonly text: string;
  readonly choices: readonly string[];
  readonly state: 'open' | 'answered' | 'withdrawn';
  readonly answer: string | null;
  readonly asked_at: number;
}

export interface ConfigValueView {
  readonly value: unknown;
  readonly source: 'flag' | 'env' | 'project' | 'user' | 'default' | 'policy';
}

export interface StuckView {
  readonly id: string;
  readonly waits_for: readonly string[];
  readonly reason: string;
}

/** Why no tasks, or fewer than possible, are started now. */
export interface HoldView {
  /** `day`, `machine`, `worktrees`, `epic/<id>`, `agent/<kind>` or `line/<branch>`. */
  readonly scope: string;
  /** The branch on which nothing lands. Null if another resource is held. */
  readonly line: string | null;
  /** A sentence with the remedy. */
  readonly reason: string;
  readonly since: number;
  /** When it ends by itself; null = only after a change. */
  readonly until: number | null;
}

/** Printed by `status --json`. `seq` is the number of the last included event. */
/**
 * A setting of the repository whose value in `.drover.toml` is not used until a person accepts it.
 */
export interface UnacceptedView {
  readonly setting: string;
  /**
   * The task or epic that landed it; null if it was changed in another way since the run started.
   */
  readonly by: string | null;
  readonly shown: string;
}

/** The sandbox of agents, gates and setups on this machine. */
export interface SandboxView {
  /** The value from the settings. */
  readonly mode: string;
  readonly network: string;
  readonly required: boolean;
  /** null = not tested yet. The backend and `drover doctor` test it. */
  readonly holds: 'bwrap' | 'agent' | 'nothing' | null;
  /** One sentence. */
  readonly message: string;
}

export interface StatusSnapshot {
  readonly seq: number;
  readonly counts: Counts;
  readonly progress: number;
  readonly run: RunView | null;
  readonly target: {
    readonly branch: string | null;
    readonly sha: string | null;
    readonly pending: number;
    /** Why landed commits wait. Absent if none do. */
    readonly pending_reason?: string;
    /** Problems of the checkout, each with the command that fixes it. Absent if it has none. */
    readonly wrong?: readonly WrongState[];
  } | null;
  readonly config: Readonly<Record<string, ConfigValueView>>;
  readonly epics: readonly EpicView[];
  readonly tasks: readonly TaskView[];
  readonly stuck: readonly StuckView[];
  readonly questions: readonly QuestionView[];
  readonly holds: readonly HoldView[];
  /** Absent on a board that is updated by changes, until it is read completely. */
  readonly sandbox?: SandboxView;
  /** Absent if everything in `.drover.toml` takes effect. */
  readonly unaccepted?: readonly UnacceptedView[];
  /**
   * In a fleet, as in `machines.list`. Absent if only one machine exists, and on the boards of
   * panels.
   */
  readonly machines?: readonly MachineView[];
  /** Why finished work waits for a machine. Absent if none does. */
  readonly no_lander?: string;
  /** True if the last run is active but no backend works on it; otherwise absent. */
  readonly unattended?: true;
}

/** One record of the numbered feed: `events --json`. */
export interface TaskSnapshotView {
  /** Counts from 1, oldest first. Commands take this number. */
  readonly number: number;
  readonly attempt: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly reason: string;
  readonly author: string;
  /** Number of files that differ from its attempt's base. */
  readonly files: number;
  readonly insertions: number;
  readonly deletions: number;
  readonly commit: string;
}

export interface TaskSnapshots {
  readonly id: string;
  readonly snapshots: readonly TaskSnapshotView[];
}

export interface EventView {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly at_ms: number;
  readonly task_id: string | null;
  readonly epic_id: string | null;
  readonly run_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface WorktreeView {
  readonly path: string;
  readonly task_id: string | null;
  readonly branch: string | null;
  readonly status: string;
  readonly reason: string | null;
  readonly unmerged_commits: number;
  readonly dirty: boolean;
  /** Disk space that its removal frees. */
  readonly size_bytes: number;
  /** The action of prune on it: keep, remove, removed. */
  readonly action: string;
  /** Why the worktree stays or may be removed, without a subject. Absent in an older backend. */
  readonly why?: string;
}

export interface WorktreeSizes {
  readonly worktrees: readonly WorktreeView[];
  /** Other files beside the worktrees, which stay. */
  readonly others: readonly {
    readonly path: string;
    readonly size_bytes: number;
    /** The end of a sentence. */
    readonly why: string;
  }[];
  readonly total_bytes: number;
  /** Bytes that "worktree prune" would free. */
  readonly frees_bytes: number;
  /** `[worktree] disk_limit`; null = none. */
  readonly limit_bytes: number | null;
}

/** A machine of a fleet. */
export interface MachineView {
  readonly id: string;
  /** Its name, followed by the start of its id if two machines have the same name. */
  readonly name: string;
  /** `dead`: no heartbeat for too long. `left`: it exited normally. */
  readonly state: MachineState;
  readonly labels: readonly string[];
  /** Number of agents running on it. */
  readonly agents: number;
  readonly agents_max: number;
  /** Number of further agents that it can run now. */
  readonly room: number;
  /** Whether it may run gates and land work now. */
  readonly lands: boolean;
  /** Landings that it has started but not ended. Absent in an older backend. */
  readonly landing?: readonly LandingView[];
  readonly version: string;
  /** Explains why the machine accepts fewer tasks than it could. */
  readonly note: string | null;
  readonly joined_at: number;
  readonly heard_at: number;
  /** By the database's clock, which may differ from the caller's. */
  readonly heard_ago_ms: number;
}

export interface LandingView {
  readonly branch: string;
  /** Unix seconds. */
  readonly since: number;
  readonly since_ago_ms: number;
}

/** The result of `drover machines drain`. */
export interface DrainAnswer {
  readonly id: string;
  readonly name: string;
  /** Number of agents running on it. */
  readonly agents: number;
  /** Whether it was already draining. */
  readonly was_draining: boolean;
  /** Whether no other machine accepts tasks. */
  readonly is_last: boolean;
}

/** The machine that was asked to release the landing on a branch. */
export interface ReleaseAnswer {
  readonly branch: string;
  readonly id: string;
  readonly name: string;
}

export interface ImportResultView {
  readonly imported: { readonly epics: number; readonly tasks: number };
  readonly unchanged: number;
  readonly differs: readonly string[];
  readonly errors: readonly {
    readonly line: number;
    readonly code: string;
    readonly kind: string;
    readonly id: string | null;
    readonly message: string;
  }[];
  readonly warnings: readonly {
    readonly line: number;
    readonly id: string | null;
    readonly message: string;
  }[];
  /** With `base`: records whose change must wait because their tasks run. */
  readonly later?: readonly string[];
  /** With `base`: running tasks that were deleted or given up on the other side. */
  readonly unwanted?: readonly string[];
}

export interface LogPageView {
  readonly task_id: string;
  readonly attempt: number;
  readonly events: readonly LogLineView[];
  /** Byte offset of the first event. */
  readonly offset: number;
  /** Byte offset to continue from. */
  readonly next_offset: number;
  /** Current size of the whole log in bytes, as counted by offsets. */
  readonly size: number;
  /** True if the attempt is over and everything has been read. */
  readonly ended: boolean;
}
