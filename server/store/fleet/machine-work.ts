// The work that runs on one machine of a fleet, and the outcome of its earlier work.

import { isHandedOver } from '../../core/plan/task.ts';
import { busyByMachine } from './machines.ts';
import type { AttemptState } from '../schema/column-values.ts';
import type { Reads, Tx } from '../schema/tables.ts';

export interface MachineWork {
  readonly taskId: string;
  readonly title: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly agent: string;
  readonly model: string | null;
  readonly startedAtMs: number;
  readonly isAtWork: boolean;
  /**
   * Whether its current step needs the git remote: the worktree, or the commit, which is pushed.
   */
  readonly usesRemote: boolean;
  /**
   * The task's state if it is not running. `landing`: its work is finished. `reassigned`: the task
   * was taken from the machine.
   */
  readonly outcome: string;
  readonly error: string | null;
}

/** Maximum number of attempts, newest first. A page of the feed names fewer. */
const attemptsMax = 1_000;

/** The attempts of these tasks that ran on the machine. Without task ids, its running attempts. */
export async function machineWork(
  db: Reads,
  machine: string,
  taskIds?: readonly string[],
): Promise<readonly MachineWork[]> {
  const rows = await db
    .selectFrom('attempts as a')
    .innerJoin('tasks as t', 't.id', 'a.task_id')
    .select(['a.task_id', 'a.epoch', 'a.number', 'a.agent', 'a.model', 'a.started_at_ms'])
    .select(['a.state', 'a.error', 't.title', 't.status', 't.phase', 't.last_error'])
    .select('t.epoch as task_epoch')
    .where('a.machine', '=', machine)
    .$if(taskIds === undefined, (query) => query.where('a.state', '=', 'running'))
    .$if(taskIds !== undefined, (query) => query.where('a.task_id', 'in', [...(taskIds ?? [])]))
    .orderBy('a.number', 'desc')
    .limit(attemptsMax)
    .execute();
  return rows.toReversed().map((row) => {
    const isPresent = row.epoch === row.task_epoch;
    const isOwned = isPresent && ['claimed', 'in_progress'].includes(row.status);
    const isFinished = isOwned && isHandedOver(row.phase);
    const outcome = isFinished ? 'landing' : isPresent ? row.status : supersededOutcome(row.state);
    const hasError = !['landing', 'completed', 'waiting'].includes(outcome);
    return {
      taskId: row.task_id,
      title: row.title,
      epoch: row.epoch,
      attempt: row.number,
      agent: row.agent,
      model: row.model,
      startedAtMs: row.started_at_ms,
      isAtWork: isOwned && !isFinished,
      usesRemote: isOwned && (row.phase === 'commit' || row.phase === 'worktree'),
      outcome,
      error: hasError ? (row.error ?? (isPresent ? row.last_error : null)) : null,
    };
  });
}

/**
 * The outcome of an attempt that was followed by a later one, possibly on another machine, so that
 * the task's state does not describe it.
 */
function supersededOutcome(state: AttemptState): string {
  switch (state) {
    case 'running':
    case 'interrupted':
      return 'reassigned';
    case 'submitted':
      return 'landing';
    case 'succeeded':
      return 'completed';
    case 'waiting':
    case 'failed':
      return state;
  }
}

/**
 * Whether a draining machine runs nothing and will get nothing. Checked in a write turn, because
 * otherwise a claimer that has not seen the drain could still assign it a task.
 */
export async function isDrained(tx: Tx, machine: string): Promise<boolean> {
  return ((await busyByMachine(tx)).get(machine) ?? 0) === 0;
}
