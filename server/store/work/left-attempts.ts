// Leftovers of ended or interrupted attempts: processes and branches.

import type { AttemptRow, Reads, TaskRow, Tx } from '../schema/tables.ts';

export type LeftAttempt = Pick<
  AttemptRow,
  'task_id' | 'number' | 'branch' | 'base_sha' | 'worktree_path' | 'pid' | 'pid_start' | 'pid_part'
>;

/** Attempts that were interrupted elsewhere while their process was recorded on this machine. */
export async function interruptedElsewhere(
  db: Reads,
  machine: string,
  only: { readonly taskId: string; readonly number: number } | null = null,
): Promise<readonly LeftAttempt[]> {
  let query = db
    .selectFrom('attempts as a')
    .innerJoin('tasks as t', 't.id', 'a.task_id')
    .select(['a.task_id', 'a.number', 'a.branch', 'a.base_sha', 'a.worktree_path'])
    .select(['a.pid', 'a.pid_start', 'a.pid_part'])
    .where('a.machine', '=', machine)
    .where('a.state', '=', 'interrupted')
    .where('a.pid', 'is not', null)
    // The agent of a task with an external block has already exited.
    .where('t.status', '!=', 'blocked');
  if (only !== null)
    query = query.where('a.task_id', '=', only.taskId).where('a.number', '=', only.number);
  return query.execute();
}

/** Forgets a process that has ended, unless the attempt has another one now. */
export async function forgetProcess(
  tx: Tx,
  attempt: Pick<AttemptRow, 'task_id' | 'number'>,
  process: { readonly pid: number; readonly startTime: string },
): Promise<void> {
  await tx
    .updateTable('attempts')
    .set({ pid: null, pid_start: null })
    .where('task_id', '=', attempt.task_id)
    .where('number', '=', attempt.number)
    .where('pid', '=', process.pid)
    .where('pid_start', '=', process.startTime)
    .execute();
}

export interface EndedAttempt extends Pick<
  AttemptRow,
  'task_id' | 'branch' | 'commit_sha' | 'base_sha' | 'state'
> {
  readonly landed_sha: TaskRow['landed_sha'];
  /** The branch that the task itself names. */
  readonly named: TaskRow['branch'];
}

/**
 * Attempts whose branch may be removed: failed, or succeeded and landed (or without a commit).
 * Newest first.
 */
export async function endedAttempts(db: Reads, limit: number): Promise<readonly EndedAttempt[]> {
  return db
    .selectFrom('attempts as a')
    .innerJoin('tasks as t', 't.id', 'a.task_id')
    .select(['a.task_id', 'a.branch', 'a.commit_sha', 'a.base_sha', 'a.state'])
    .select(['t.branch as named', 't.landed_sha'])
    .where((eb) =>
      eb.or([
        eb.and([
          eb('a.state', '=', 'succeeded'),
          eb.or([eb('t.landed_sha', 'is not', null), eb('a.commit_sha', 'is', null)]),
        ]),
        eb('a.state', '=', 'failed'),
      ]),
    )
    .orderBy('a.ended_at_ms', 'desc')
    .limit(limit)
    .execute();
}

/** Removes these branches from their tasks. Resolves with those tasks. */
export async function forgetBranches(
  tx: Tx,
  branches: readonly string[],
): Promise<readonly string[]> {
  const rows = await tx
    .updateTable('tasks')
    .set({ branch: null })
    .where('branch', 'in', [...branches])
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}
