// Tasks in the shape that clients see. The query answers rows that have the keys of the view already, in its order:
// with ten thousand tasks, building every object twice would take longer than everything else.

import { sql } from 'kysely';
import type { TaskView } from '../protocol/api.ts';
import { type Db, textList } from './read.ts';
import { taskWarnings } from './task-warnings.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Keys that are no column of the task's own row come as null and are filled in by `finishView`. */
type FilledIn = 'blocked_by' | 'waits_for' | 'warnings' | 'started_at';
type Lists = 'labels' | 'conflict_files' | 'held_files' | 'acceptance_criteria' | 'rescue_refs';

export type ViewRow = Omit<TaskView, FilledIn | Lists> & { readonly [K in FilledIn]: null } & {
  readonly [K in Lists]: string;
};

/** Tasks as unfinished views, in the order of creation. */
export async function readViewRows(db: Db, id?: string): Promise<ViewRow[]> {
  return db
    .selectFrom('tasks')
    .select([
      'id',
      'title',
      sql<string>`coalesce(description, '')`.as('description'),
      'epic_id',
      'parent_id',
      sql<string>`iif(type = '', 'other', type)`.as('type'),
      'status',
      'priority',
      'labels',
      sql<null>`null`.as('blocked_by'),
      sql<null>`null`.as('waits_for'),
      'blocked_reason',
      'review_kind',
      'attempts',
      'max_attempts',
      // A time to wait for is never before it has really come.
      sql<number | null>`(next_attempt_at_ms + 999) / 1000`.as('next_attempt_at'),
      sql<number | null>`(waiting_until_ms + 999) / 1000`.as('waiting_until'),
      'phase',
      'agent',
      'base_sha',
      'branch',
      'commit_sha',
      'landed_sha',
      'worktree_path',
      'conflict_files',
      'held_files',
      'verdict',
      'verdict_reason',
      'last_error',
      'acceptance_criteria',
      'test_command as gate',
      'cost_usd as cost',
      'created_at',
      'updated_at',
      sql<null>`null`.as('warnings'),
      sql<null>`null`.as('started_at'),
      'test_mode',
      'test_scope',
      'rescue_refs',
    ])
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .orderBy('position')
    .execute();
}

export interface RunningAttempt {
  readonly task_id: string;
  readonly agent: string;
  readonly started_at_ms: number;
}

/** The attempts that run now, of one task or of all. */
export async function readRunningAttempts(
  db: Db,
  id?: string,
): Promise<Map<string, RunningAttempt>> {
  const rows = await db
    .selectFrom('attempts')
    .select(['task_id', 'agent', 'started_at_ms'])
    .where('state', '=', 'running')
    .$if(id !== undefined, (query) => query.where('task_id', '=', id ?? ''))
    .execute();
  return new Map(rows.map((row) => [row.task_id, row]));
}

/** Turns the row itself into the view. */
export function finishView(
  row: ViewRow,
  facts: {
    readonly blockedBy: readonly string[];
    readonly waitsFor: readonly string[];
    readonly attempt: RunningAttempt | undefined;
  },
): TaskView {
  const view = row as unknown as Writable<TaskView>;
  view.labels = textList(row.labels);
  view.conflict_files = textList(row.conflict_files);
  view.held_files = textList(row.held_files);
  view.acceptance_criteria = textList(row.acceptance_criteria);
  view.rescue_refs = textList(row.rescue_refs);
  view.blocked_by = facts.blockedBy;
  view.waits_for = facts.waitsFor;
  view.warnings = taskWarnings(view);
  if (facts.attempt !== undefined) {
    view.agent ??= facts.attempt.agent;
    view.started_at = Math.floor(facts.attempt.started_at_ms / 1000);
  }
  return view;
}
