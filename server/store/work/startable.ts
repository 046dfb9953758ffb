// Tasks that may start now, in order.

import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { tasksBehind } from '../lines/arrivals.ts';
import type { RunLine } from '../rows/scope.ts';
import type { Reads, StoreTables, TaskRow } from '../schema/tables.ts';

export interface Startable {
  readonly id: string;
  readonly status: 'ready' | 'waiting';
  readonly agent: string | null;
  readonly model: string | null;
  readonly fallback: string | null;
  readonly fallback_from: number;
  readonly best_of: number | null;
  readonly candidate_of: string | null;
  readonly labels: string;
  readonly epoch: number;
  readonly runs_on: string | null;
  readonly epic_id: string | null;
  readonly test_mode: TaskRow['test_mode'];
  readonly test_scope: TaskRow['test_scope'];
  readonly test_command: string | null;
  readonly blocked_by: string | null;
}

const startableColumns = [
  'id',
  'status',
  'agent',
  'model',
  'fallback',
  'fallback_from',
  'best_of',
  'candidate_of',
  'labels',
  'epoch',
  'runs_on',
  'epic_id',
  'test_mode',
  'test_scope',
  'test_command',
  'blocked_by',
] as const;

/**
 * Tasks that may start now, best first: those whose account's limit is over, then by priority,
 * chain, and the user's order.
 */
export async function startableTasks(
  tx: Reads,
  options: {
    readonly epicId: string | null;
    readonly exceptEpics?: readonly string[];
    /** Only these tasks; null = the whole scope. */
    readonly tasks?: readonly string[] | null;
    /** The line on which they land. Absent = any line. */
    readonly on?: RunLine;
    /** Tasks to exclude. */
    readonly except?: readonly string[];
    readonly nowMs: number;
    readonly limit: number;
    /** Excludes tasks that require a label of a machine. */
    readonly anywhere?: boolean;
  },
): Promise<Startable[]> {
  const { exceptEpics = [], tasks = null, except = [], on } = options;
  const base = tx
    .selectFrom('tasks')
    .select(startableColumns)
    .where('parent_id', 'is', null)
    .$if(options.epicId !== null, (query) => query.where('epic_id', '=', options.epicId))
    .$if(tasks !== null, (query) => query.where('id', 'in', tasks ?? []))
    .$if(except.length > 0, (query) => query.where('id', 'not in', [...except]))
    .$if(on !== undefined, (query) =>
      on === undefined ? query : query.where('id', 'not in', tasksBehind(tx, on)),
    )
    .$if(options.anywhere === true, (query) => query.where('labels', 'not like', '%"needs:%'))
    .$if(exceptEpics.length > 0, (query) =>
      query.where((eb) =>
        eb.or([eb('epic_id', 'is', null), eb('epic_id', 'not in', [...exceptEpics])]),
      ),
    );
  const best = (query: typeof base) =>
    query
      .orderBy('priority', 'desc')
      .orderBy('chain', 'desc')
      .orderBy('position')
      .limit(options.limit)
      .execute();
  const waiting = best(
    base
      .where('status', '=', 'waiting')
      .where('waiting_until_ms', '<=', options.nowMs)
      .where(isUnblocked),
  );
  const ready = best(
    base
      .where('status', '=', 'ready')
      .where((eb) =>
        eb.or([
          eb('next_attempt_at_ms', 'is', null),
          eb('next_attempt_at_ms', '<=', options.nowMs),
        ]),
      ),
  );
  return (await Promise.all([waiting, ready])).flat().map((row) => ({
    ...row,
    status: row.status === 'waiting' ? 'waiting' : 'ready',
  }));
}

/**
 * Whether every blocker of the task and of its sub-tasks is done (as `unmetBlockers`, for top-level
 * tasks). A blocker that was added while the task waited for its account counts too. Its own
 * sub-tasks do not, because they run inside it.
 */
export function isUnblocked(eb: ExpressionBuilder<StoreTables, 'tasks'>): Expression<SqlBool> {
  const below = eb
    .selectFrom('tasks as child')
    .select('child.id')
    .whereRef('child.parent_id', '=', 'tasks.id');
  const family = eb
    .selectFrom('tasks as member')
    .select('member.id')
    .where((at) =>
      at.or([
        at('member.id', '=', at.ref('tasks.id')),
        at('member.parent_id', '=', at.ref('tasks.id')),
        at('member.parent_id', 'in', below),
      ]),
    );
  const unfinished = eb
    .selectFrom('task_dependencies as d')
    .innerJoin('tasks as blocker', 'blocker.id', 'd.blocked_by')
    .select('blocker.id')
    .where('d.task_id', 'in', family)
    .where('blocker.status', '!=', 'completed')
    .where('d.blocked_by', 'not in', family);
  return eb.not(eb.exists(unfinished));
}
