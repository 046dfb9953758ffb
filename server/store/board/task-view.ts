// Reads tasks in the form that clients get. With ten thousand tasks, every column costs
// milliseconds, and most columns of most tasks have their default. Those columns are read only for
// tasks in which they differ.

import { readBlockCause } from '../../core/plan/block-cause.ts';
import { typedKeys } from '../../core/keys-of.ts';
import type { ForecastView, GateView, TaskRuleView } from '../../protocol/task-fields.ts';
import { type RawBuilder, sql } from 'kysely';
import type { PlanView, TaskView } from '../../protocol/api.ts';
import type { CandidateView } from '../../protocol/views.ts';
import { linesOfCandidate } from '../../core/plan/best-of.ts';
import { readProposals } from '../status/plans.ts';
import { type Db, textList } from '../rows/one-moment.ts';
import type { TaskRow } from '../schema/tables.ts';
import { taskWarnings } from '../plan/task-warnings.ts';
import { unsaidColumns, viewOfColumns } from '../../core/exchange/task-rule-columns.ts';

/** Columns that are read for every task. A value that nearly all tasks share is read as null. */
export interface CommonRow extends Pick<
  TaskRow,
  | 'id'
  | 'title'
  | 'description'
  | 'epic_id'
  | 'parent_id'
  | 'status'
  | 'priority'
  | 'attempts'
  | 'max_attempts'
  | 'position'
  | 'created_at'
  | 'updated_at'
> {
  readonly type: string | null;
  readonly labels: string | null;
  readonly acceptance_criteria: string | null;
}

const ownColumns = [
  'blocked_reason',
  'blocked_by',
  'review_kind',
  'next_attempt_at_ms',
  'waiting_until_ms',
  'phase',
  'candidate_of',
  'changed_lines',
  'removed_lines',
  'base_sha',
  'branch',
  'commit_sha',
  'landed_sha',
  'landed_on',
  'worktree_path',
  'conflict_files',
  'held_files',
  'verdict',
  'verdict_reason',
  'last_error',
  'cost_usd',
  'rescue_refs',
] as const satisfies readonly (keyof TaskRow)[];

const ruleColumns = typedKeys(unsaidColumns);
const rareColumns = [...ownColumns, ...ruleColumns] as const;

export type RareRow = Pick<TaskRow, (typeof rareColumns)[number]>;

/** The values of these columns in an ordinary task: the defaults of the table. */
const usual: RareRow = {
  ...unsaidColumns,
  blocked_reason: null,
  blocked_by: null,
  review_kind: null,
  next_attempt_at_ms: null,
  waiting_until_ms: null,
  phase: null,
  candidate_of: null,
  changed_lines: null,
  removed_lines: null,
  base_sha: null,
  branch: null,
  commit_sha: null,
  landed_sha: null,
  landed_on: null,
  worktree_path: null,
  conflict_files: '[]',
  held_files: '[]',
  verdict: 'unknown',
  verdict_reason: null,
  last_error: null,
  cost_usd: 0,
  rescue_refs: '[]',
};

const usualView = viewOfColumns(usual);

function saysSomething(): RawBuilder<boolean> {
  const conditions = rareColumns.map((column) => {
    const value = usual[column];
    return value === null
      ? sql`${sql.ref(column)} is not null`
      : sql`${sql.ref(column)} <> ${sql.lit(value)}`;
  });
  return sql<boolean>`(${sql.join(conditions, sql` or `)})`;
}

export interface TaskRows {
  readonly common: CommonRow;
  readonly rare: RareRow;
  /** A candidate's number among those of its task. */
  readonly candidate?: number;
  /** The plan that waits for a person. */
  readonly proposal?: PlanView;
}

/** Numbers candidates in the same way as `candidateNumbers`. */
const candidateNumber = sql<number | null>`case when candidate_of is null then null else (
  select count(*) from tasks as other
  where other.candidate_of = tasks.candidate_of and other.position <= tasks.position) end`.as(
  'candidate_number',
);

/** All tasks in board order, or those with the ids (at most one part of `inParts`). */
export async function readTaskRows(db: Db, ids?: readonly string[]): Promise<TaskRows[]> {
  const common = await db
    .selectFrom('tasks')
    .select([
      'id',
      'title',
      'description',
      'epic_id',
      'parent_id',
      sql<string | null>`nullif(type, 'other')`.as('type'),
      'status',
      'priority',
      sql<string | null>`nullif(labels, '[]')`.as('labels'),
      'attempts',
      'max_attempts',
      'position',
      sql<string | null>`nullif(acceptance_criteria, '[]')`.as('acceptance_criteria'),
      'created_at',
      'updated_at',
    ])
    .$if(ids !== undefined, (query) => query.where('id', 'in', ids ?? []))
    .orderBy('position')
    .orderBy(sql`rowid`)
    .execute();
  const rare = await db
    .selectFrom('tasks')
    .select(['id', ...rareColumns, candidateNumber])
    .where(saysSomething())
    .$if(ids !== undefined, (query) => query.where('id', 'in', ids ?? []))
    .orderBy('position')
    .orderBy(sql`rowid`)
    .execute();
  const proposals = await readProposals(
    db,
    rare.flatMap(({ id, review_kind: kind }) => (kind === 'plan' ? [id] : [])),
  );
  // Both lists have the same order.
  let next = 0;
  return common.map((row) => {
    const candidate = rare[next];
    if (candidate?.id !== row.id) return { common: row, rare: usual };
    next += 1;
    const proposal = proposals.get(row.id);
    const { candidate_number: number } = candidate;
    return {
      common: row,
      rare: candidate,
      ...(number === null ? {} : { candidate: number }),
      ...(proposal === undefined ? {} : { proposal }),
    };
  });
}

export interface RunningAttempt {
  readonly task_id: string;
  readonly agent: string;
  readonly model: string | null;
  readonly started_at_ms: number;
  readonly runs_on: string;
  readonly machine: string;
}

/** Running attempts of one task or of all tasks. */
export async function readRunningAttempts(
  db: Db,
  id?: string,
): Promise<Map<string, RunningAttempt>> {
  const rows = await db
    .selectFrom('attempts')
    .select(['task_id', 'agent', 'model', 'started_at_ms', 'machine', 'runs_on'])
    .where('state', '=', 'running')
    .$if(id !== undefined, (query) => query.where('task_id', '=', id ?? ''))
    .execute();
  return new Map(rows.map((row) => [row.task_id, row]));
}

export interface ViewFacts {
  readonly blockedBy: readonly string[];
  readonly waitsFor: readonly string[];
  readonly attempt: RunningAttempt | undefined;
  /** Name of the machine that runs it. */
  readonly machine: string | undefined;
  readonly forecast: readonly ForecastView[] | undefined;
  readonly gate: GateView | undefined;
}

export function taskView(
  { common, rare, candidate, proposal }: TaskRows,
  facts: ViewFacts,
): TaskView {
  const { attempt } = facts;
  const described = {
    title: common.title,
    description: common.description ?? '',
    acceptance_criteria: textList(common.acceptance_criteria),
    parent_id: common.parent_id,
    test_mode: rare.test_mode,
    plan: rare.plan === 1,
    agent: rare.agent,
    model: rare.model,
  };
  return {
    ...((rare === usual ? usualView : viewOfColumns(rare)) as unknown as TaskRuleView),
    id: common.id,
    title: common.title,
    description: described.description,
    epic_id: common.epic_id,
    parent_id: common.parent_id,
    type: common.type === null || common.type === '' ? 'other' : common.type,
    status: common.status,
    priority: common.priority,
    labels: textList(common.labels),
    blocked_by: facts.blockedBy,
    waits_for: facts.waitsFor,
    blocked_reason: rare.blocked_reason,
    block: rare.blocked_reason === null ? null : readBlockCause(rare.blocked_by),
    review_kind: rare.review_kind,
    attempts: common.attempts,
    max_attempts: common.max_attempts,
    runs_on: attempt?.runs_on ?? rare.runs_on,
    next_attempt_at: secondsUp(rare.next_attempt_at_ms),
    waiting_until: secondsUp(rare.waiting_until_ms),
    phase: rare.phase,
    agent: attempt?.agent ?? rare.agent,
    model: attempt === undefined ? rare.model : attempt.model,
    candidate_of: rare.candidate_of,
    candidate: candidate === undefined ? null : candidateView(candidate, rare),
    base_sha: rare.base_sha,
    branch: rare.branch,
    commit_sha: rare.commit_sha,
    landed_sha: rare.landed_sha,
    landed_on: rare.landed_on,
    worktree_path: rare.worktree_path,
    machine: facts.machine ?? null,
    conflict_files: textList(rare.conflict_files),
    held_files: textList(rare.held_files),
    verdict: rare.verdict,
    verdict_reason: rare.verdict_reason,
    last_error: rare.last_error,
    acceptance_criteria: described.acceptance_criteria,
    cost: rare.cost_usd,
    created_at: common.created_at,
    updated_at: common.updated_at,
    warnings: taskWarnings(described),
    started_at: attempt === undefined ? null : Math.floor(attempt.started_at_ms / 1000),
    rescue_refs: textList(rare.rescue_refs),
    position: common.position,
    proposal: proposal ?? null,
    ...(facts.forecast === undefined ? {} : { forecast: facts.forecast }),
    ...(facts.gate === undefined ? {} : { running_gate: facts.gate }),
  };
}

function candidateView(number: number, rare: RareRow): CandidateView {
  const { added, removed } = linesOfCandidate(rare);
  return { number, added_lines: added, removed_lines: removed };
}

/** Rounds a time up to seconds, so that a wait never ends too early. */
function secondsUp(ms: number | null): number | null {
  return ms === null ? null : Math.ceil(ms / 1000);
}
