// Tasks around a task: its blockers, its sub-tasks, recently finished work, and tasks that run at
// the same time.

import type { AttemptRow, Reads, TaskRow } from '../schema/tables.ts';

export type Blocker = Pick<
  TaskRow,
  | 'id'
  | 'title'
  | 'status'
  | 'verdict'
  | 'verdict_reason'
  | 'landed_sha'
  | 'landed_on'
  | 'commit_sha'
  | 'base_sha'
>;

/** The blockers of these tasks, landed or not. A blocker of two of them is listed twice. */
export async function readBlockers(db: Reads, ids: readonly string[]): Promise<readonly Blocker[]> {
  return db
    .selectFrom('task_dependencies as d')
    .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
    .select(['b.id', 'b.title', 'b.status', 'b.verdict', 'b.verdict_reason'])
    .select(['b.landed_sha', 'b.landed_on', 'b.commit_sha', 'b.base_sha'])
    .where('d.task_id', 'in', [...ids])
    .orderBy('b.id')
    .execute();
}

/** Direct sub-tasks in the order in which they run, including canceled ones. */
export async function readSubTasks(
  db: Reads,
  id: string,
): Promise<readonly Pick<TaskRow, 'id' | 'title' | 'status'>[]> {
  return db
    .selectFrom('tasks')
    .select(['id', 'title', 'status'])
    .where('parent_id', '=', id)
    .orderBy('sequence_number')
    .execute();
}

/** Tasks of the epic completed since a time (Unix seconds), newest first. */
export async function completedInEpic(
  db: Reads,
  epicId: string,
  options: {
    readonly sinceS: number;
    readonly except: readonly string[];
    readonly limit: number;
  },
): Promise<readonly Pick<TaskRow, 'id' | 'title' | 'verdict' | 'verdict_reason' | 'updated_at'>[]> {
  return db
    .selectFrom('tasks')
    .select(['id', 'title', 'verdict', 'verdict_reason', 'updated_at'])
    .where('epic_id', '=', epicId)
    .where('status', '=', 'completed')
    .where('updated_at', '>=', options.sinceS)
    .where('id', 'not in', [...options.except])
    .orderBy('updated_at', 'desc')
    .limit(options.limit)
    .execute();
}

/** Completed tasks with a commit that changed since a time (Unix seconds), newest first. */
export async function committedSince(
  db: Reads,
  sinceS: number,
  limit: number,
): Promise<
  readonly Pick<
    TaskRow,
    'id' | 'title' | 'verdict' | 'verdict_reason' | 'base_sha' | 'commit_sha'
  >[]
> {
  return db
    .selectFrom('tasks')
    .select(['id', 'title', 'verdict', 'verdict_reason', 'base_sha', 'commit_sha'])
    .where('status', '=', 'completed')
    .where('updated_at', '>=', sinceS)
    .where('commit_sha', 'is not', null)
    .orderBy('updated_at', 'desc')
    .limit(limit)
    .execute();
}

export type RunningTask = Pick<TaskRow, 'id' | 'title' | 'commit_sha'> &
  Pick<AttemptRow, 'number' | 'base_sha'>;

/** Other tasks in progress whose attempts have a base. */
export async function othersInProgress(
  db: Reads,
  id: string,
  limit: number,
): Promise<readonly RunningTask[]> {
  return db
    .selectFrom('tasks as t')
    .innerJoin('attempts as a', (join) =>
      join.onRef('a.task_id', '=', 't.id').onRef('a.epoch', '=', 't.epoch'),
    )
    .select(['t.id', 't.title', 't.commit_sha', 'a.number', 'a.base_sha'])
    .where('t.status', '=', 'in_progress')
    .where('t.parent_id', 'is', null)
    .where('t.id', '!=', id)
    .where('a.base_sha', 'is not', null)
    .orderBy('t.id')
    .limit(limit)
    .execute();
}

/** Tasks in plan order, those of the epic (null = without an epic) first. */
export async function readNeighbors(
  db: Reads,
  epicId: string | null,
  limit: number,
): Promise<readonly Pick<TaskRow, 'id' | 'title' | 'status' | 'epic_id' | 'parent_id'>[]> {
  return db
    .selectFrom('tasks')
    .select(['id', 'title', 'status', 'epic_id', 'parent_id'])
    .orderBy((eb) => eb('epic_id', 'is not distinct from', epicId), 'desc')
    .orderBy('position')
    .limit(limit)
    .execute();
}

/**
 * A task with this title that is not canceled: a sub-task of the given parent, or a top-level task
 * that waits for it.
 */
export async function sameTitle(
  db: Reads,
  title: string,
  place: { readonly parent: string } | { readonly blocker: string },
): Promise<Pick<TaskRow, 'id' | 'status'> | null> {
  const named = db
    .selectFrom('tasks')
    .select(['id', 'status'])
    .where('title', '=', title)
    .where('status', '!=', 'cancelled');
  const row =
    'parent' in place
      ? await named.where('parent_id', '=', place.parent).executeTakeFirst()
      : await named
          .where('parent_id', 'is', null)
          .where('id', 'in', (query) =>
            query
              .selectFrom('task_dependencies')
              .select('task_id')
              .where('blocked_by', '=', place.blocker),
          )
          .executeTakeFirst();
  return row ?? null;
}
