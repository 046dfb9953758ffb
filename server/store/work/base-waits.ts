// Tasks of a run whose blockers have landed on, or are part of, other active runs.

import type { Reads, TaskRow, Tx } from '../schema/tables.ts';
import type { Scope } from './scope.ts';

/** Tasks of a run, and the line that it does them on. */
export interface WaitScope extends Scope {
  readonly line: string;
}

export interface TaskBehind extends Pick<TaskRow, 'id' | 'epic_id'> {
  readonly sha: string;
}

/**
 * Ready tasks of the scope with a blocker that landed on one of the lines, and not on the run's
 * own: each with the commits that such blockers landed as. What a sub-task waits for counts as
 * well: it is done in its task's worktree.
 */
export async function tasksBehindLines(
  db: Reads,
  { epicId, exceptEpics, tasks, line }: WaitScope,
  lines: readonly string[],
): Promise<readonly TaskBehind[]> {
  if (lines.length === 0) return [];
  return db
    .withRecursive('parts(id, part)', (parts) =>
      parts
        .selectFrom('tasks')
        .select(['id', 'id as part'])
        .where('status', '=', 'ready')
        .where('parent_id', 'is', null)
        .$if(epicId !== null, (query) => query.where('epic_id', '=', epicId))
        .$if(tasks !== null, (query) => query.where('id', 'in', tasks ?? []))
        .$if(exceptEpics.length > 0, (query) =>
          query.where((eb) =>
            eb.or([eb('epic_id', 'is', null), eb('epic_id', 'not in', [...exceptEpics])]),
          ),
        )
        .unionAll(
          parts
            .selectFrom('tasks as c')
            .innerJoin('parts', 'parts.part', 'c.parent_id')
            .select(['parts.id', 'c.id as part'])
            .where('c.status', 'not in', ['completed', 'cancelled']),
        ),
    )
    .selectFrom('parts')
    .innerJoin('tasks as t', 't.id', 'parts.id')
    .innerJoin('task_dependencies as d', 'd.task_id', 'parts.part')
    .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
    .select(['t.id', 't.epic_id', 'b.landed_sha as sha'])
    .where('b.landed_on', 'in', [...lines])
    .where('b.landed_on', '!=', line)
    .where('b.landed_sha', 'is not', null)
    .$narrowType<{ sha: string }>()
    .distinct()
    .execute();
}

/** Those of the ready tasks that could start now do not start before a time. */
export async function delayStart(
  tx: Tx,
  ids: readonly string[],
  { nowMs, untilMs }: { readonly nowMs: number; readonly untilMs: number },
): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ next_attempt_at_ms: untilMs })
    .where('id', 'in', [...ids])
    .where('status', '=', 'ready')
    .where((eb) =>
      eb.or([eb('next_attempt_at_ms', 'is', null), eb('next_attempt_at_ms', '<=', nowMs)]),
    )
    .execute();
}

/** Whether a blocked task of the run waits for an unfinished task of another run. */
export async function waitsForRuns(
  db: Reads,
  run: Scope,
  others: {
    readonly epics: readonly string[];
    /** One of the other runs is of everything. */
    readonly hasWider: boolean;
  },
): Promise<boolean> {
  const { epicId, exceptEpics, tasks } = run;
  const { epics, hasWider } = others;
  const waiting = await db
    .selectFrom('tasks as t')
    .innerJoin('task_dependencies as d', 'd.task_id', 't.id')
    .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
    .select('t.id')
    .where('t.status', '=', 'blocked')
    .where('t.blocked_reason', 'is', null)
    .$if(epicId !== null, (query) => query.where('t.epic_id', '=', epicId))
    .$if(tasks !== null, (query) => query.where('t.id', 'in', tasks ?? []))
    .$if(exceptEpics.length > 0, (query) =>
      query.where((eb) =>
        eb.or([eb('t.epic_id', 'is', null), eb('t.epic_id', 'not in', [...exceptEpics])]),
      ),
    )
    .where('b.status', 'not in', ['completed', 'failed', 'cancelled'])
    .$if(!hasWider, (query) => query.where('b.epic_id', 'in', [...epics]))
    .$if(hasWider, (query) =>
      query.where((eb) => eb.or([eb('b.epic_id', 'is', null), eb('b.epic_id', '!=', epicId)])),
    )
    .limit(1)
    .executeTakeFirst();
  return waiting !== undefined;
}
