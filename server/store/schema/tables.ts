// The tables as Kysely sees them. Columns of the public design schema keep their names and units
// (times in Unix seconds); our own columns have their unit as suffix (`_ms`). Lists are JSON text.
// `runs_on` is local or remote.

import type { TaskRuleColumns } from '../../core/exchange/task-rules.ts';
import type { Generated, Kysely, Selectable, Transaction } from 'kysely';
import type { TaskStatus } from '../../core/plan/state.ts';
import type { LandMode, ReviewKind, Verdict } from '../../core/plan/task.ts';
import type {
  Defaulted,
  AttemptState,
  EpicLandingState,
  StopKind,
  TaskPhase,
} from './column-values.ts';
import type { PastTables } from './past-rows.ts';
import type { SideTables } from './side-tables.ts';
import type { ArrivalTable, LineGateTable, LineTable, LineTipTable } from './line-tables.ts';
import type { LineLanderTable, LogPartTable, MachineTable } from './machine-tables.ts';

/** The rules for doing the task: its agent, its gate, its attempts. */
type RuleColumns = {
  [Column in keyof TaskRuleColumns]: Defaulted<TaskRuleColumns[Column]>;
};

export interface TaskTable extends RuleColumns {
  id: string;
  title: string;
  description: Defaulted<string | null>;
  epic_id: Defaulted<string | null>;
  parent_id: Defaulted<string | null>;
  sequence_number: Defaulted<number>;
  type: Defaulted<string>;
  priority: Defaulted<number>;
  status: Defaulted<TaskStatus>;
  /** Number of used attempts. Interrupted attempts do not count. */
  attempts: Defaulted<number>;
  last_error: Defaulted<string | null>;
  claimed_by: Defaulted<string | null>;
  claimed_at: Defaulted<number | null>;
  operator: Defaulted<string | null>;
  verdict: Defaulted<Verdict>;
  verdict_reason: Defaulted<string | null>;
  created_at: number;
  updated_at: number;
  /** The user's order, initially that of creation. Decides if priority and chain are equal. */
  position: Defaulted<number>;
  labels: Defaulted<string>;
  acceptance_criteria: Defaulted<string>;
  /** The last attempt before the task was reset. Only later attempts decide which agent is next. */
  fallback_from: Defaulted<number>;
  /**
   * The task that this one is a candidate of. A candidate waits for the choice and never lands by
   * itself.
   */
  candidate_of: Defaulted<string | null>;
  /** Lines that a candidate's change adds and removes together, and those that it removes. */
  changed_lines: Defaulted<number | null>;
  removed_lines: Defaulted<number | null>;
  /** Number of tasks on the longest chain of dependents that starts here, including this one. */
  chain: Defaulted<number>;
  /** Fencing number. Every claim increments it; writes of an older owner are refused. */
  epoch: Defaulted<number>;
  phase: Defaulted<TaskPhase | null>;
  base_sha: Defaulted<string | null>;
  branch: Defaulted<string | null>;
  commit_sha: Defaulted<string | null>;
  landed_sha: Defaulted<string | null>;
  /** The branch whose landing line contains `landed_sha`. */
  landed_on: Defaulted<string | null>;
  worktree_path: Defaulted<string | null>;
  blocked_reason: Defaulted<string | null>;
  /** A `BlockCause` as JSON: why the task is held, apart from its blockers. */
  blocked_by: Defaulted<string | null>;
  review_kind: Defaulted<ReviewKind | null>;
  conflict_files: Defaulted<string>;
  held_files: Defaulted<string>;
  rescue_refs: Defaulted<string>;
  next_attempt_at_ms: Defaulted<number | null>;
  waiting_until_ms: Defaulted<number | null>;
  /** A stop requested while an owner was running the task: pause, cancel or stop (the run ends). */
  stop_requested: Defaulted<StopKind | null>;
  stop_reason: Defaulted<string | null>;
  cost_usd: Defaulted<number>;
  /** The imported record as canonical JSON, by which a second import recognizes it as unchanged. */
  source: Defaulted<string | null>;
}

export interface EpicTable {
  id: string;
  title: string;
  description: Defaulted<string | null>;
  status: Defaulted<string>;
  created_at: number;
  position: Defaulted<number>;
  branch: Defaulted<string | null>;
  landed_sha: Defaulted<string | null>;
  /** The tree that a person approved; null = none. */
  approved_tree: Defaulted<string | null>;
  /** The tree that waits for an approval: the tested merge with the target. */
  review_tree: Defaulted<string | null>;
  landing_state: Defaulted<EpicLandingState | null>;
  landing_note: Defaulted<string | null>;
  source: Defaulted<string | null>;
  runs_on: Defaulted<string | null>;
}

export interface DependencyTable {
  task_id: string;
  blocked_by: string;
}

/**
 * Slots of the pool. `task_id` is null while a slot is free. Separate from the design's
 * `worktrees`, whose key is the task.
 */
export interface SlotTable {
  /** The machine with the folder; '' = the project's only machine. */
  machine: Defaulted<string>;
  path: string;
  number: number;
  kind: string;
  task_id: Defaulted<string | null>;
  attempt: Defaulted<number | null>;
  setup_fingerprint: Defaulted<string | null>;
  created_at: number;
  last_used_at: number;
}

/** The design's table: the current or last worktree of each task. */
export interface WorktreeTable {
  task_id: string;
  path: string;
  branch: string;
  created_at: number;
  last_used_at: number;
  status: Defaulted<string>;
  disk_size: Defaulted<number>;
}

export interface AttemptTable {
  task_id: string;
  number: number;
  epoch: number;
  state: AttemptState;
  agent: string;
  /** The model requested from its agent; null = the agent's own choice. */
  model: Defaulted<string | null>;
  /** Index of its agent among those that take over from each other; 0 = the task's first agent. */
  step: Defaulted<number>;
  session_id: string;
  /** 1 once the agent's session exists, so that the next start resumes it. */
  session_started: Defaulted<number>;
  branch: string;
  /** The branch of an earlier attempt that this one continues; null = starts from the base. */
  continues_from: Defaulted<string | null>;
  base_sha: Defaulted<string | null>;
  commit_sha: Defaulted<string | null>;
  worktree_path: Defaulted<string | null>;
  started_at_ms: number;
  ended_at_ms: Defaulted<number | null>;
  failure_kind: Defaulted<string | null>;
  error: Defaulted<string | null>;
  error_detail: Defaulted<string | null>;
  summary: Defaulted<string | null>;
  exit_code: Defaulted<number | null>;
  input_tokens: Defaulted<number>;
  output_tokens: Defaulted<number>;
  cost_usd: Defaulted<number>;
  log_path: Defaulted<string | null>;
  run_id: Defaulted<string | null>;
  pid: Defaulted<number | null>;
  pid_start: Defaulted<string | null>;
  /** The part (task or sub-task id) that the process works on. */
  pid_part: Defaulted<string | null>;
  /** Usage of each part's log so far, as JSON. The columns above contain the sums. */
  usage_by_part: Defaulted<string>;
  gate_runs: Defaulted<number>;
  /** 1 if it only plans; no file that it writes lands. */
  planning: Defaulted<number>;
  runs_on: Defaulted<string>;
  /** The machine with its worktree, session and process; '' = the project's only machine. */
  machine: Defaulted<string>;
}

/** The plans of a task, one per round. Every implementing attempt gets the approved one. */
export interface PlanTable {
  task_id: string;
  /** Counts from 1. */
  number: number;
  attempt: number;
  state: 'proposed' | 'approved' | 'sent_back' | 'dropped';
  text: string;
  /** The person's feedback if the plan was sent back. */
  comment: Defaulted<string | null>;
  created_at_ms: number;
  decided_at_ms: Defaulted<number | null>;
}

export interface EventTable {
  seq: Generated<number>;
  id: string;
  type: string;
  timestamp: number;
  at_ms: number;
  task_id: Defaulted<string | null>;
  epic_id: Defaulted<string | null>;
  run_id: Defaulted<string | null>;
  data: string;
}

export interface QuestionTable {
  id: string;
  task_id: string;
  attempt: number;
  request_id: string;
  kind: string;
  text: string;
  choices: string;
  state: 'open' | 'answered' | 'withdrawn';
  answer: Defaulted<string | null>;
  asked_at_ms: number;
  answered_at_ms: Defaulted<number | null>;
}

/** Hints to a task, with the design's name and columns. */
export interface HintTable {
  id: string;
  task_id: string;
  message: string;
  created_at: number;
  delivered: Defaulted<number>;
  source: Defaulted<HintSource>;
}

/** `forecast`: Drover reports other work that conflicts with the task's. */
export type HintSource = 'person' | 'forecast';

export interface RunTable {
  id: string;
  /** `resume` continues a stopped run. */
  state: 'active' | 'stopped' | 'finished';
  started_at_ms: number;
  ended_at_ms: Defaulted<number | null>;
  workers: number;
  epic_id: Defaulted<string | null>;
  land: LandMode;
  target_branch: string;
  /** The branch whose landing line the run's tasks land on: the target, or `drover/epic/<id>`. */
  line: string;
  base_sha: string;
  result_branch: Defaulted<string | null>;
  /** Flags of the command that started it, as JSON, so that `resume` uses the same ones. */
  flags: string;
  /** The settings that it was started with, as JSON; null = started by an older version. */
  settings: Defaulted<string | null>;
}

export interface LandingTable {
  task_id: string;
  epoch: number;
  attempt: number;
  line: string;
  commit_sha: string;
  gate_command: Defaulted<string | null>;
  state: 'queued' | 'taken' | 'landed' | 'returned' | 'withdrawn';
  workflow_id: Defaulted<string | null>;
  position: Generated<number>;
  queued_at_ms: number;
}

/**
 * Verdicts of gate commands by tree, so that a tree is never tested twice with the same command.
 */
export interface GateVerdictTable {
  tree_sha: string;
  command: string;
  ok: number;
  exit_code: Defaulted<number | null>;
  duration_ms: number;
  output_tail: string;
  flaky: Defaulted<number>;
  at_ms: number;
}

/** The state of a provider account. Its limit makes everything that runs on it wait. */
export interface AccountTable {
  name: string;
  limited_until_ms: Defaulted<number | null>;
  message: Defaulted<string | null>;
  /**
   * How many agents may run since the last overload, and when that occurred; null = it never did.
   */
  pace_agents: Defaulted<number | null>;
  pace_at_ms: Defaulted<number | null>;
}

/** The usage of each part of an attempt by day. Budgets are computed from it. */
export interface SpendingTable {
  task_id: string;
  attempt: number;
  part: string;
  /** `YYYY-MM-DD` in the backend's time zone. */
  day: string;
  tokens: number;
  usd: number;
  turns: number;
  worked_ms: number;
}

/** Why nothing new starts now, one row per reason. The dispatcher of the active run writes them. */
export interface HoldTable {
  /** `day`, `machine`, `epic/<id>` or `agent/<kind>`. */
  scope: string;
  reason: string;
  since_ms: number;
  /** When the hold ends by itself; null = only after a change. */
  until_ms: Defaulted<number | null>;
}

export interface StoreTables extends PastTables, SideTables {
  tasks: TaskTable;
  epics: EpicTable;
  task_dependencies: DependencyTable;
  worktrees: WorktreeTable;
  slots: SlotTable;
  attempts: AttemptTable;
  events: EventTable;
  questions: QuestionTable;
  guidance_queue: HintTable;
  runs: RunTable;
  lines: LineTable;
  /** The tips that Drover has written into the refs of its lines. */
  line_tips: LineTipTable;
  line_gates: LineGateTable;
  arrivals: ArrivalTable;
  landings: LandingTable;
  gate_verdicts: GateVerdictTable;
  accounts: AccountTable;
  spending: SpendingTable;
  holds: HoldTable;
  task_plans: PlanTable;
  machines: MachineTable;
  line_landers: LineLanderTable;
  log_parts: LogPartTable;
}

export type Tx = Transaction<StoreTables>;
export type Reads = Kysely<StoreTables>;
export type TaskRow = Selectable<TaskTable>;
export type EpicRow = Selectable<EpicTable>;
export type AttemptRow = Selectable<AttemptTable>;
export type EventRow = Selectable<EventTable>;
export type QuestionRow = Selectable<QuestionTable>;
export type HintRow = Selectable<HintTable>;
export type RunRow = Selectable<RunTable>;
export type LineRow = Selectable<LineTable>;
export type LandingRow = Selectable<LandingTable>;
export type PlanRow = Selectable<PlanTable>;
export type HoldRow = Selectable<HoldTable>;
export type SlotRow = Selectable<SlotTable>;
