// Single attempts and what is known of them: their rows, the commits they began at, the agents they had.

import type { TaskStatus } from '../../core/plan/state.ts';
import type { AttemptRow, Reads } from '../schema/tables.ts';

export async function attemptOf(
  db: Reads,
  taskId: string,
  number: number,
): Promise<AttemptRow | null> {
  const row = await db
    .selectFrom('attempts')
    .selectAll()
    .where('task_id', '=', taskId)
    .where('number', '=', number)
    .executeTakeFirst();
  return row ?? null;
}

/** The attempt that an owner has made of the task on this machine. */
export async function attemptOfOwner(
  db: Reads,
  owner: { readonly machine: string; readonly taskId: string; readonly epoch: number },
): Promise<AttemptRow | null> {
  const row = await db
    .selectFrom('attempts')
    .selectAll()
    .where('machine', '=', owner.machine)
    .where('task_id', '=', owner.taskId)
    .where('epoch', '=', owner.epoch)
    .executeTakeFirst();
  return row ?? null;
}

/** The commits at which the attempts of a task began. */
export async function basesOfTask(db: Reads, taskId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('attempts')
    .select('base_sha')
    .where('task_id', '=', taskId)
    .where('base_sha', 'is not', null)
    .execute();
  return rows.map((row) => row.base_sha ?? '');
}

/** The commit at which the attempt began that the branch belongs to. */
export async function baseOfAttemptBranch(db: Reads, branch: string): Promise<string | null> {
  const row = await db
    .selectFrom('attempts')
    .select('base_sha')
    .where('branch', '=', branch)
    .executeTakeFirst();
  return row?.base_sha ?? null;
}

/** Statuses in which a task's work is its agent's; of any other, a person may have merged it by hand. */
const agentsOwn: readonly TaskStatus[] = ['claimed', 'in_progress', 'ready', 'waiting'];

/** Attempts that have begun and whose work no person has taken over, in the order of their tasks. */
export async function attemptsOfAgents(
  db: Reads,
): Promise<readonly Pick<AttemptRow, 'task_id' | 'branch' | 'base_sha' | 'commit_sha'>[]> {
  return await db
    .selectFrom('attempts as a')
    .innerJoin('tasks as t', 't.id', 'a.task_id')
    .select(['a.task_id', 'a.branch', 'a.base_sha', 'a.commit_sha'])
    .where('t.status', 'in', [...agentsOwn])
    .where('a.state', 'in', ['running', 'submitted', 'interrupted', 'waiting'])
    .where('a.base_sha', 'is not', null)
    .orderBy('a.task_id')
    .execute();
}
