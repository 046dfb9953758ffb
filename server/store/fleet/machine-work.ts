// The work that runs on one machine of a fleet, and the state of its earlier work.

import { isHandedOver } from '../../core/plan/task.ts';
import { busyByMachine } from './machines.ts';
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
  /** It is at a step that needs the git remote: its worktree, or its commit, which is pushed. */
  readonly usesRemote: boolean;
  /** The task's state if it is not running; `landing` if its work is finished. */
  readonly outcome: string;
  readonly error: string | null;
}

/** A page of the feed names fewer tasks. */
const tasksMax = 1_000;

/**
 * The newest attempts of these tasks that ran on the machine; without names, all that are running
 * there.
 */
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
    .orderBy('a.number')
    .limit(tasksMax)
    .execute();
  const newest = new Map<string, MachineWork>();
  for (const row of rows) {
    const isOwned = row.epoch === row.task_epoch && ['claimed', 'in_progress'].includes(row.status);
    const isFinished = isOwned && isHandedOver(row.phase);
    newest.set(row.task_id, {
      taskId: row.task_id,
      title: row.title,
      epoch: row.epoch,
      attempt: row.number,
      agent: row.agent,
      model: row.model,
      startedAtMs: row.started_at_ms,
      isAtWork: isOwned && !isFinished,
      usesRemote: isOwned && (row.phase === 'commit' || row.phase === 'worktree'),
      outcome: isFinished ? 'landing' : row.status,
      error: isFinished || row.status === 'completed' ? null : (row.error ?? row.last_error),
    });
  }
  return [...newest.values()];
}

/**
 * Whether a draining machine runs nothing and will get nothing: checked in a write turn, because a
 * claimer that has not seen the drain yet could otherwise assign a task afterwards.
 */
export async function isDrained(tx: Tx, machine: string): Promise<boolean> {
  return ((await busyByMachine(tx)).get(machine) ?? 0) === 0;
}
