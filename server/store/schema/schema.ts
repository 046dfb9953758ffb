// Creates the tables: first the public design schema, unchanged, then our additions.

import { forgeIssueStatements, forgeStatements } from './forge-rows.ts';
import { noteStatements } from './note-rows.ts';
import { forecastStatements } from './forecast-rows.ts';
import { reviewStatements } from './review-rows.ts';
import {
  lineGateStatements,
  lineStatements,
  oneTruthStatements,
  wrongStateStatements,
} from './line-tables.ts';
import { type Kysely, sql } from 'kysely';
import { causeOfOldReason, storedCause } from '../../core/plan/block-cause.ts';
import { isPostgres } from './dialect.ts';
import { addPastTriggers } from '../postgres/past-triggers.ts';
import { addToFirstTables, forPostgres } from '../postgres/tables.ts';

/** Statements of the first schema version. All of them run in the same migration transaction. */
const statements: readonly string[] = [
  `CREATE TABLE epics (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, description TEXT, status TEXT NOT NULL DEFAULT 'open',
    created_at INTEGER NOT NULL, position INTEGER NOT NULL DEFAULT 0, branch TEXT, landed_sha TEXT,
    approved_tree TEXT, review_tree TEXT, landing_state TEXT, landing_note TEXT, source TEXT)`,
  `CREATE TABLE tasks (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, description TEXT,
    epic_id TEXT REFERENCES epics(id), parent_id TEXT REFERENCES tasks(id) ON DELETE CASCADE,
    sequence_number INTEGER NOT NULL DEFAULT 0, type TEXT NOT NULL DEFAULT 'other',
    priority INTEGER NOT NULL DEFAULT 0, status TEXT NOT NULL DEFAULT 'ready',
    attempts INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER NOT NULL DEFAULT 3, last_error TEXT,
    claimed_by TEXT, claimed_at INTEGER, operator TEXT, verdict TEXT NOT NULL DEFAULT 'unknown',
    verdict_reason TEXT, test_mode TEXT NOT NULL DEFAULT 'strict', test_scope TEXT NOT NULL DEFAULT 'diff',
    test_command TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    position INTEGER NOT NULL DEFAULT 0, labels TEXT NOT NULL DEFAULT '[]',
    acceptance_criteria TEXT NOT NULL DEFAULT '[]', agent TEXT, chain INTEGER NOT NULL DEFAULT 1,
    epoch INTEGER NOT NULL DEFAULT 0, phase TEXT, base_sha TEXT, branch TEXT, commit_sha TEXT,
    landed_sha TEXT, landed_on TEXT, worktree_path TEXT, blocked_reason TEXT, review_kind TEXT,
    conflict_files TEXT NOT NULL DEFAULT '[]', held_files TEXT NOT NULL DEFAULT '[]',
    rescue_refs TEXT NOT NULL DEFAULT '[]', next_attempt_at_ms INTEGER, waiting_until_ms INTEGER,
    stop_requested TEXT, stop_reason TEXT, cost_usd REAL NOT NULL DEFAULT 0, source TEXT)`,
  `CREATE TABLE task_dependencies (
    task_id TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
    blocked_by TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
    PRIMARY KEY (task_id, blocked_by)) WITHOUT ROWID`,
  `CREATE TABLE worktrees (
    task_id TEXT PRIMARY KEY REFERENCES tasks(id) ON DELETE CASCADE, path TEXT NOT NULL,
    branch TEXT NOT NULL, created_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'active', disk_size INTEGER NOT NULL DEFAULT 0)`,
  `CREATE TABLE slots (
    path TEXT PRIMARY KEY, number INTEGER NOT NULL, kind TEXT NOT NULL, task_id TEXT, attempt INTEGER,
    setup_fingerprint TEXT, created_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL)`,
  `CREATE TABLE attempts (
    task_id TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE, number INTEGER NOT NULL,
    epoch INTEGER NOT NULL, state TEXT NOT NULL, agent TEXT NOT NULL, session_id TEXT NOT NULL,
    session_started INTEGER NOT NULL DEFAULT 0, branch TEXT NOT NULL, continues_from TEXT,
    base_sha TEXT, commit_sha TEXT, worktree_path TEXT, started_at_ms INTEGER NOT NULL,
    ended_at_ms INTEGER, failure_kind TEXT, error TEXT, error_detail TEXT, summary TEXT,
    exit_code INTEGER, input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0, log_path TEXT, run_id TEXT, pid INTEGER, pid_start TEXT,
    pid_part TEXT, usage_by_part TEXT NOT NULL DEFAULT '{}', gate_runs INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (task_id, number))`,
  `CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, type TEXT NOT NULL,
    timestamp INTEGER NOT NULL, at_ms INTEGER NOT NULL, task_id TEXT, epic_id TEXT, run_id TEXT,
    data TEXT NOT NULL DEFAULT '{}')`,
  `CREATE TABLE questions (
    id TEXT PRIMARY KEY, task_id TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL, request_id TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
    choices TEXT NOT NULL DEFAULT '[]', state TEXT NOT NULL DEFAULT 'open', answer TEXT,
    asked_at_ms INTEGER NOT NULL, answered_at_ms INTEGER)`,
  `CREATE TABLE guidance_queue (
    id TEXT PRIMARY KEY, task_id TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
    message TEXT NOT NULL, created_at INTEGER NOT NULL, delivered INTEGER NOT NULL DEFAULT 0)`,
  `CREATE TABLE runs (
    id TEXT PRIMARY KEY, state TEXT NOT NULL, started_at_ms INTEGER NOT NULL, ended_at_ms INTEGER,
    workers INTEGER NOT NULL, epic_id TEXT, land TEXT NOT NULL, target_branch TEXT NOT NULL,
    line TEXT NOT NULL, base_sha TEXT NOT NULL, result_branch TEXT, flags TEXT NOT NULL DEFAULT '{}')`,
  `CREATE TABLE lines (
    branch TEXT PRIMARY KEY, landed_sha TEXT NOT NULL, followed_sha TEXT,
    pending INTEGER NOT NULL DEFAULT 0, pending_reason TEXT, parent_branch TEXT)`,
  `CREATE TABLE landings (
    position INTEGER PRIMARY KEY AUTOINCREMENT, task_id TEXT NOT NULL, epoch INTEGER NOT NULL,
    attempt INTEGER NOT NULL, line TEXT NOT NULL, commit_sha TEXT NOT NULL, gate_command TEXT,
    state TEXT NOT NULL, workflow_id TEXT, queued_at_ms INTEGER NOT NULL, UNIQUE (task_id, epoch))`,
  `CREATE TABLE gate_verdicts (
    tree_sha TEXT NOT NULL, command TEXT NOT NULL, ok INTEGER NOT NULL, exit_code INTEGER,
    duration_ms INTEGER NOT NULL, output_tail TEXT NOT NULL, flaky INTEGER NOT NULL DEFAULT 0,
    at_ms INTEGER NOT NULL, PRIMARY KEY (tree_sha, command)) WITHOUT ROWID`,
  `CREATE TABLE accounts (name TEXT PRIMARY KEY, limited_until_ms INTEGER, message TEXT)`,
  `CREATE INDEX tasks_start ON tasks(status, priority DESC, chain DESC, created_at, position)`,
  `CREATE INDEX tasks_position ON tasks(position)`,
  `CREATE INDEX tasks_priority ON tasks(priority DESC)`,
  `CREATE INDEX tasks_type ON tasks(type)`,
  `CREATE INDEX tasks_epic ON tasks(epic_id, status)`,
  // Partial, because the planner would otherwise use it to look up tasks without a parent, which
  // are nearly all.
  `CREATE INDEX tasks_parent ON tasks(parent_id, sequence_number) WHERE parent_id IS NOT NULL`,
  `CREATE INDEX tasks_wake ON tasks(status, next_attempt_at_ms)`,
  `CREATE INDEX dependencies_blocker ON task_dependencies(blocked_by)`,
  `CREATE INDEX events_task ON events(task_id, seq)`,
  `CREATE INDEX events_type ON events(type, seq)`,
  `CREATE INDEX questions_open ON questions(state, asked_at_ms)`,
  `CREATE INDEX questions_task ON questions(task_id, attempt)`,
  `CREATE INDEX hints_task ON guidance_queue(task_id, delivered)`,
  `CREATE INDEX landings_line ON landings(line, state, position)`,
  `CREATE INDEX worktrees_created ON worktrees(created_at)`,
  `CREATE INDEX runs_state ON runs(state)`,
  `CREATE INDEX attempts_state ON attempts(state)`,
];

/**
 * Indexes of the second version: for the user's order, which decides which task starts, and for
 * tasks with an external block.
 */
const secondStatements: readonly string[] = [
  `DROP INDEX IF EXISTS tasks_start`,
  `CREATE INDEX tasks_start ON tasks(status, priority DESC, chain DESC, position)`,
  `CREATE INDEX tasks_outside ON tasks(status, position) WHERE blocked_reason IS NOT NULL`,
];

/**
 * Tables of the third version: usage, reasons why nothing starts, and the number of agents that an
 * overloaded provider accepts.
 */
const budgetStatements: readonly string[] = [
  `CREATE TABLE spending (
    task_id TEXT NOT NULL, attempt INTEGER NOT NULL, part TEXT NOT NULL, day TEXT NOT NULL,
    tokens INTEGER NOT NULL DEFAULT 0, usd REAL NOT NULL DEFAULT 0, turns INTEGER NOT NULL DEFAULT 0,
    worked_ms INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (task_id, attempt, part, day)) WITHOUT ROWID`,
  `CREATE INDEX spending_day ON spending(day)`,
  `CREATE TABLE holds (
    scope TEXT PRIMARY KEY, reason TEXT NOT NULL, since_ms INTEGER NOT NULL, until_ms INTEGER) WITHOUT ROWID`,
  `ALTER TABLE accounts ADD COLUMN pace_agents INTEGER`,
  `ALTER TABLE accounts ADD COLUMN pace_at_ms INTEGER`,
];

/** Columns of the fourth version: fallback agents, the agent of each attempt, and candidates. */
const fallbackStatements: readonly string[] = [
  `ALTER TABLE tasks ADD COLUMN fallback TEXT`,
  `ALTER TABLE tasks ADD COLUMN fallback_from INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE tasks ADD COLUMN best_of INTEGER`,
  `ALTER TABLE tasks ADD COLUMN choose TEXT`,
  `ALTER TABLE tasks ADD COLUMN candidate_of TEXT`,
  `ALTER TABLE tasks ADD COLUMN changed_lines INTEGER`,
  `CREATE INDEX tasks_candidates ON tasks(candidate_of) WHERE candidate_of IS NOT NULL`,
  `ALTER TABLE attempts ADD COLUMN model TEXT`,
  `ALTER TABLE attempts ADD COLUMN step INTEGER NOT NULL DEFAULT 0`,
];

/** Agents' plans, and the tasks that need one. Nothing that a planning attempt writes lands. */
const planStatements: readonly string[] = [
  `CREATE TABLE task_plans (
    task_id TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE, number INTEGER NOT NULL,
    attempt INTEGER NOT NULL, state TEXT NOT NULL, text TEXT NOT NULL, comment TEXT,
    created_at_ms INTEGER NOT NULL, decided_at_ms INTEGER, PRIMARY KEY (task_id, number)) WITHOUT ROWID`,
  `ALTER TABLE tasks ADD COLUMN plan INTEGER`,
  `ALTER TABLE attempts ADD COLUMN planning INTEGER NOT NULL DEFAULT 0`,
];

/**
 * Tables of the sixth version: the machines of a fleet, the owners of worktrees, and agents' output
 * for readers on other machines. '' is the only machine of a project without a fleet.
 */
const fleetStatements: readonly string[] = [
  `CREATE TABLE machines (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, labels TEXT NOT NULL DEFAULT '[]', state TEXT NOT NULL,
    agents_max INTEGER NOT NULL, room INTEGER NOT NULL, note TEXT, version TEXT NOT NULL,
    joined_at_ms INTEGER NOT NULL, alive_until_ms INTEGER NOT NULL) WITHOUT ROWID`,
  `ALTER TABLE slots RENAME TO slots_before`,
  `CREATE TABLE slots (
    machine TEXT NOT NULL DEFAULT '', path TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL,
    task_id TEXT, attempt INTEGER, setup_fingerprint TEXT, created_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL, PRIMARY KEY (machine, path))`,
  `INSERT INTO slots (path, number, kind, task_id, attempt, setup_fingerprint, created_at, last_used_at)
    SELECT path, number, kind, task_id, attempt, setup_fingerprint, created_at, last_used_at FROM slots_before`,
  `DROP TABLE slots_before`,
  `ALTER TABLE attempts ADD COLUMN machine TEXT NOT NULL DEFAULT ''`,
  `CREATE INDEX attempts_machine ON attempts(machine, state)`,
  `CREATE TABLE log_parts (
    file TEXT NOT NULL, start INTEGER NOT NULL, size INTEGER NOT NULL, text TEXT NOT NULL,
    at_ms INTEGER NOT NULL, PRIMARY KEY (file, start)) WITHOUT ROWID`,
];

/**
 * The rows before each change (for the tables in `past-tables.ts`), so that the state at any event
 * can be restored from the current one. `past_events` maps an event to the changes of its
 * transaction. `past_start` is the first event from which all changes are kept.
 */
const pastStatements: readonly string[] = [
  `CREATE TABLE past (
    n INTEGER PRIMARY KEY AUTOINCREMENT, tx INTEGER NOT NULL, op TEXT NOT NULL, tbl TEXT NOT NULL,
    key TEXT NOT NULL, old TEXT)`,
  `CREATE TABLE past_events (seq INTEGER PRIMARY KEY, n INTEGER NOT NULL, tx INTEGER NOT NULL)`,
  `CREATE TABLE past_start (seq INTEGER NOT NULL)`,
  `INSERT INTO past_start (seq) SELECT coalesce(max(seq), 0) FROM events`,
];

/** The ninth version: which machines of a fleet may land work and run gates now. */
const landersStatements: readonly string[] = [
  `ALTER TABLE machines ADD COLUMN lands INTEGER NOT NULL DEFAULT 1`,
];

const compatibilityStatements: readonly string[] = [
  `ALTER TABLE machines ADD COLUMN compatibility INTEGER NOT NULL DEFAULT 1`,
];

/** The thirteenth version: the repository that the plan belongs to. */
const repositoryStatements: readonly string[] = [
  `CREATE TABLE repository (id TEXT PRIMARY KEY, common_dir TEXT NOT NULL, root_commit TEXT) WITHOUT ROWID`,
];

/** The tenth version: webhook deliveries, and the last event for which they were made. */
const webhookStatements: readonly string[] = [
  `CREATE TABLE webhook_cursors (endpoint TEXT PRIMARY KEY, seq INTEGER NOT NULL, gone TEXT) WITHOUT ROWID`,
  `CREATE TABLE webhook_deliveries (
    endpoint TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, event TEXT NOT NULL, body TEXT NOT NULL,
    state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, next_at_ms INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL, ended_at_ms INTEGER, last_answer TEXT, sender TEXT, sender_until_ms INTEGER,
    PRIMARY KEY (endpoint, seq))`,
  `CREATE INDEX webhook_deliveries_due ON webhook_deliveries(state, endpoint, next_at_ms)`,
  `CREATE INDEX webhook_deliveries_ids ON webhook_deliveries(id)`,
];

/** The place in which a task's agents run, and in which each attempt's agent ran. */
const runsOnStatements: readonly string[] = [
  `ALTER TABLE tasks ADD COLUMN runs_on TEXT`,
  `ALTER TABLE epics ADD COLUMN runs_on TEXT`,
  `ALTER TABLE attempts ADD COLUMN runs_on TEXT NOT NULL DEFAULT 'local'`,
];

/** The twelfth version: metrics of removed events, and the last removed event. */
const retentionStatements: readonly string[] = [
  `CREATE TABLE metrics_carried (series TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE pruned_events (seq INTEGER NOT NULL)`,
  `INSERT INTO pruned_events (seq) VALUES (0)`,
  `CREATE INDEX gate_verdicts_at ON gate_verdicts(at_ms)`,
];

/** The progress of exporters of the feed. */
const exporterStatements: readonly string[] = [
  `CREATE TABLE exporters (
    name TEXT PRIMARY KEY, seq INTEGER NOT NULL, owner TEXT, owner_until_ms INTEGER, sent_at_ms INTEGER,
    error TEXT, error_at_ms INTEGER) WITHOUT ROWID`,
];

/** The model to request from a task's agent. */
const modelStatements: readonly string[] = [`ALTER TABLE tasks ADD COLUMN model TEXT`];

/** A task's block as data, and gate verdicts on the tips of lines. */
const redBaseStatements: readonly string[] = [
  `ALTER TABLE tasks ADD COLUMN blocked_by TEXT`,
  `CREATE TABLE base_gates (
    line TEXT PRIMARY KEY, state TEXT NOT NULL, asked_ms INTEGER NOT NULL, commit_sha TEXT, command TEXT,
    workflow TEXT, since_ms INTEGER NOT NULL, wait_ms INTEGER NOT NULL, reason TEXT) WITHOUT ROWID`,
];

/** The task whose conversation a task continues. */
const continuesStatements: readonly string[] = [`ALTER TABLE tasks ADD COLUMN continues TEXT`];

/** The number of lines that a candidate removes, besides the total size of its change. */
const candidateStatements: readonly string[] = [
  `ALTER TABLE tasks ADD COLUMN removed_lines INTEGER`,
];

/** When a machine lost the shared remote. */
const remoteAwayStatements: readonly string[] = [
  `ALTER TABLE machines ADD COLUMN remote_away_since_ms INTEGER`,
];

/** The 21st version: the states of users' branches at the time when their lines included them. */
const causeStatements: readonly string[] = [
  `CREATE TABLE taken_tips (
    branch TEXT NOT NULL, sha TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (branch, sha)) WITHOUT ROWID`,
  `INSERT INTO taken_tips (branch, sha, at_ms)
    SELECT substr(branch, 12), sha, at_ms FROM line_tips WHERE branch LIKE 'refs/heads/%'`,
  `DELETE FROM line_tips WHERE branch LIKE 'refs/heads/%'`,
];

/** The 23rd version: the settings that each run was started with. */
const runSettingsStatements: readonly string[] = [`ALTER TABLE runs ADD COLUMN settings TEXT`];

/**
 * The 24th version: the last reported state of each machine, its orders, and which machine lands.
 */
const machineReportStatements: readonly string[] = [
  `ALTER TABLE machines ADD COLUMN reported TEXT NOT NULL DEFAULT 'left'`,
  `ALTER TABLE machines ADD COLUMN drain_order TEXT`,
  `CREATE TABLE line_landers (
    branch TEXT PRIMARY KEY, machine TEXT NOT NULL, workflow TEXT NOT NULL, since_ms INTEGER NOT NULL,
    ended_ms INTEGER, release_order INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID`,
];

/** The schema version that this code reads and writes (`PRAGMA user_version`). */
export const schemaVersion = 31;

export async function createStoreTables<Tables>(db: Kysely<Tables>): Promise<void> {
  await executeAll(db, statements);
  if (isPostgres(db)) await addToFirstTables(db);
}

export async function addPast<Tables>(db: Kysely<Tables>): Promise<void> {
  await executeAll(db, pastStatements);
  if (isPostgres(db)) await addPastTriggers(db);
}

export async function addRedBases<Tables>(db: Kysely<Tables>): Promise<void> {
  await executeAll(db, redBaseStatements);
  const found = await sql<{ id: string; blocked_reason: string }>`
    select id, blocked_reason from tasks
    where status = 'blocked' and blocked_reason like '% is red before any task (%'`.execute(db);
  for (const { id, blocked_reason: reason } of found.rows) {
    const cause = causeOfOldReason(reason);
    await sql`update tasks set blocked_by = ${storedCause(cause)} where id = ${id}`.execute(db);
  }
}

export async function addCauses<Tables>(db: Kysely<Tables>): Promise<void> {
  await executeAll(db, causeStatements);
  const found = await sql<{ id: string; reason: string }>`
    select id, coalesce(blocked_reason, last_error) as reason from tasks
    where (status = 'blocked' and blocked_reason is not null
        and (blocked_by is null or blocked_by not like '{"kind":"red_base"%'))
      or (status in ('paused', 'completed', 'cancelled') and last_error like 'Beads: %')`.execute(
    db,
  );
  for (const { id, reason } of found.rows) {
    const cause = storedCause(causeOfOldReason(reason));
    await sql`update tasks set blocked_by = ${cause} where id = ${id}`.execute(db);
  }
}

async function executeAll<Tables>(db: Kysely<Tables>, list: readonly string[]): Promise<void> {
  const inItsWords = isPostgres(db) ? forPostgres : (statement: string) => statement;
  for (const statement of list) await sql.raw(inItsWords(statement)).execute(db);
}

type Up = (db: Kysely<unknown>) => Promise<void>;

const all =
  (list: readonly string[]): Up =>
  (db) =>
    executeAll(db, list);

export interface SchemaStep {
  /** The database's schema version after this step. */
  readonly version: number;
  readonly name: string;
  readonly up: Up;
}

/** In ascending order. The last step leads to `schemaVersion`. */
export const storeSteps: readonly SchemaStep[] = [
  { version: 1, name: 'first tables', up: createStoreTables },
  { version: 2, name: 'indexes for the order that people give', up: all(secondStatements) },
  { version: 3, name: 'what is used up, and why nothing starts', up: all(budgetStatements) },
  { version: 4, name: 'who takes over from an agent, and candidates', up: all(fallbackStatements) },
  { version: 5, name: 'plans that wait for a person', up: all(planStatements) },
  { version: 6, name: 'the machines of a fleet', up: all(fleetStatements) },
  { version: 7, name: 'the past of the plan', up: addPast },
  { version: 8, name: 'the tips of lines that Drover has written', up: all(lineStatements) },
  { version: 9, name: 'which machines land', up: all(landersStatements) },
  { version: 10, name: 'webhooks', up: all(webhookStatements) },
  { version: 11, name: 'where agents run', up: all(runsOnStatements) },
  { version: 12, name: 'what is left of removed history', up: all(retentionStatements) },
  { version: 13, name: 'whose plan it is', up: all(repositoryStatements) },
  { version: 14, name: 'exporters of the feed', up: all(exporterStatements) },
  { version: 15, name: 'which work a machine can continue', up: all(compatibilityStatements) },
  { version: 16, name: 'which model a task asks for', up: all(modelStatements) },
  { version: 17, name: 'lines that fail their gate', up: addRedBases },
  { version: 18, name: 'which conversation a task continues', up: all(continuesStatements) },
  { version: 19, name: 'how large the changes of candidates are', up: all(candidateStatements) },
  { version: 20, name: 'machines without the remote', up: all(remoteAwayStatements) },
  { version: 21, name: 'why each task is blocked, and commits of people in lines', up: addCauses },
  { version: 22, name: 'states of checkouts that are reported', up: all(wrongStateStatements) },
  { version: 23, name: 'the settings of each run', up: all(runSettingsStatements) },
  { version: 24, name: 'what the feed reports of machines', up: all(machineReportStatements) },
  { version: 25, name: 'one truth about each line', up: all(oneTruthStatements) },
  { version: 26, name: 'pull requests', up: all(forgeStatements) },
  { version: 27, name: 'issues', up: all(forgeIssueStatements) },
  { version: 28, name: 'notes for later tasks', up: all(noteStatements) },
  { version: 29, name: 'conflicts that are foreseen', up: all(forecastStatements) },
  { version: 30, name: 'reviews by agents', up: all(reviewStatements) },
  { version: 31, name: 'gates that run now', up: all(lineGateStatements) },
];
