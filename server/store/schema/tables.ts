// The tables as Kysely sees them. Columns of the public design schema keep their names and units
// (times in Unix seconds); columns of our own end in their unit (`_ms`). Lists are JSON text.
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

/** How the task is to be done: its agent, its gate, its tries. */
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
  /** Attempts that have been used up (interrupted ones are not counted). */
  attempts: Defaulted<number>;
  last_error: Defaulted<string | null>;
  claimed_by: Defaulted<string | null>;
  claimed_at: Defaulted<number | null>;
  operator: Defaulted<string | null>;
  verdict: Defaulted<Verdict>;
  verdict_reason: Defaulted<string | null>;
  created_at: number;
  updated_at: number;
  /**
   * The order that people give, of creation at first: the last word when priority and chain are
   * equal.
   */
  position: Defaulted<number>;
  labels: Defaulted<string>;
  acceptance_criteria: Defaulted<string>;
  /** The last attempt before the task was reset: later attempts decide which agent is next. */
  fallback_from: Defaulted<number>;
  /**
   * The task that this one is a candidate of: its work waits for the choice and never lands on its
   * own.
   */
  candidate_of: Defaulted<string | null>;
  /** Lines that the change of a candidate adds and removes, and removes alone. */
  changed_lines: Defaulted<number | null>;
  removed_lines: Defaulted<number | null>;
  /** Tasks on the longest chain of dependents that starts here, including this one. */
  chain: Defaulted<number>;
  /** Fencing number: raised by every claim; writes of an older owner are refused. */
  epoch: Defaulted<number>;
  phase: Defaulted<TaskPhase | null>;
  base_sha: Defaulted<string | null>;
  branch: Defaulted<string | null>;
  commit_sha: Defaulted<string | null>;
  landed_sha: Defaulted<string | null>;
  /** Branch whose landing line holds `landed_sha`. */
  landed_on: Defaulted<string | null>;
  worktree_path: Defaulted<string | null>;
  blocked_reason: Defaulted<string | null>;
  /** A `BlockCause` as JSON: the reason that it is held, besides its blockers. */
  blocked_by: Defaulted<string | null>;
  review_kind: Defaulted<ReviewKind | null>;
  conflict_files: Defaulted<string>;
  held_files: Defaulted<string>;
  rescue_refs: Defaulted<string>;
  next_attempt_at_ms: Defaulted<number | null>;
  waiting_until_ms: Defaulted<number | null>;
  /** A person's request while an owner was running it: pause, cancel or stop (the run ends). */
  stop_requested: Defaulted<StopKind | null>;
  stop_reason: Defaulted<string | null>;
  cost_usd: Defaulted<number>;
  /**
   * The source of the imported record, as canonical JSON, to recognize it as unchanged on a second
   * import.
   */
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
  /** Tree a person has approved, or null. */
  approved_tree: Defaulted<string | null>;
  /** Tree that waits for an approval: the merge with the target as it was tested. */
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
 * Pool slots; `task_id` is null while a slot is free. Kept beside the design's `worktrees`, which
 * is keyed by task.
 */
export interface SlotTable {
  /** Whose disk it is on; '' = the project's only machine. */
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
  /** Model that its agent was asked for; null = the agent's own choice. */
  model: Defaulted<string | null>;
  /** Place of its agent among those that take over from each other: 0 = the task's first one. */
  step: Defaulted<number>;
  session_id: string;
  /** 1 once the agent's session exists, so that the next start resumes it. */
  session_started: Defaulted<number>;
  branch: string;
  /** Branch of an earlier attempt that this one continues, or null for a fresh start. */
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
  /** Part (task or sub-task id) the process works on. */
  pid_part: Defaulted<string | null>;
  /** Usage of each part's log so far, as JSON; the sums are in the columns above. */
  usage_by_part: Defaulted<string>;
  gate_runs: Defaulted<number>;
  /** 1: it only plans; no file that it writes lands. */
  planning: Defaulted<number>;
  runs_on: Defaulted<string>;
  /** The machine of its worktree, session and process; '' = the project's only machine. */
  machine: Defaulted<string>;
}

/** The plans of a task, one for each round; every implementing attempt gets the approved one. */
export interface PlanTable {
  task_id: string;
  /** Starts at 1. */
  number: number;
  attempt: number;
  state: 'proposed' | 'approved' | 'sent_back' | 'dropped';
  text: string;
  /** A person's feedback when they sent it back. */
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

/** Hints to a task; the design's name and columns. */
export interface HintTable {
  id: string;
  task_id: string;
  message: string;
  created_at: number;
  delivered: Defaulted<number>;
  source: Defaulted<HintSource>;
}

/** `forecast`: Drover tells of other work that conflicts with the task's. */
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
  /** Branch whose landing line the run's tasks land on: the target, or `drover/epic/<id>`. */
  line: string;
  base_sha: string;
  result_branch: Defaulted<string | null>;
  /** Flags of the command that started it, as JSON, so that `resume` uses the same. */
  flags: string;
  /** The settings that it was started with, as JSON; null = by an older version. */
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

/** Verdicts of gate commands by tree: the same tree is never tested twice with the same command. */
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

/** State of a provider account: a limit parks everything that runs on it. */
export interface AccountTable {
  name: string;
  limited_until_ms: Defaulted<number | null>;
  message: Defaulted<string | null>;
  /**
   * Agents that may work at once since the last sign of overload, and when that was; null = there
   * was none.
   */
  pace_agents: Defaulted<number | null>;
  pace_at_ms: Defaulted<number | null>;
}

/** The usage of each part of an attempt, by day: budgets are counted from here. */
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

/** Why nothing new starts now, one row per reason; the dispatcher of the active run writes them. */
export interface HoldTable {
  /** `day`, `machine`, `epic/<id>` or `agent/<kind>`. */
  scope: string;
  reason: string;
  since_ms: number;
  /** When time alone ends it; null = something has to change. */
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
  /** Tips that Drover has written into the refs of its lines. */
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
