// Single attempts and their data: rows, base commits, agents.

import type { TaskStatus } from '../../core/plan/state.ts';
import { textList } from '../rows/one-moment.ts';
import type { AttemptRow, Reads } from '../schema/tables.ts';

export async function readAttempt(
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

/** The attempt that a task's owner works on. `machine`: only if it runs on that machine. */
export async function attemptOfOwner(
  db: Reads,
  owner: { readonly machine?: string; readonly taskId: string; readonly epoch: number },
): Promise<AttemptRow | null> {
  const { machine } = owner;
  const row = await db
    .selectFrom('attempts')
    .selectAll()
    .$if(machine !== undefined, (query) => query.where('machine', '=', machine ?? ''))
    .where('task_id', '=', owner.taskId)
    .where('epoch', '=', owner.epoch)
    .executeTakeFirst();
  return row ?? null;
}

/** The base commits of all attempts of a task. */
export async function basesOfTask(db: Reads, taskId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('attempts')
    .select('base_sha')
    .where('task_id', '=', taskId)
    .where('base_sha', 'is not', null)
    .execute();
  return rows.map((row) => row.base_sha ?? '');
}

/** The base commit of each attempt of a task, by attempt number. */
export async function basesByAttempt(
  db: Reads,
  taskId: string,
): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .selectFrom('attempts')
    .select(['number', 'base_sha'])
    .where('task_id', '=', taskId)
    .execute();
  return new Map(
    rows.flatMap((row) => (row.base_sha === null ? [] : [[row.number, row.base_sha] as const])),
  );
}

/** The base commit of the attempt that the branch belongs to. */
export async function baseOfAttemptBranch(db: Reads, branch: string): Promise<string | null> {
  const row = await db
    .selectFrom('attempts')
    .select('base_sha')
    .where('branch', '=', branch)
    .executeTakeFirst();
  return row?.base_sha ?? null;
}

/**
 * In these statuses only the agent has changed the task's work. In others, a person may have merged
 * it by hand.
 */
const agentsOwn: readonly TaskStatus[] = ['claimed', 'in_progress', 'ready', 'waiting'];

/** States of attempts that have not ended. */
const atWorkOrQueued = ['running', 'submitted', 'interrupted', 'waiting'] as const;

/** Attempts that have started and that no person took over, in task order. */
export async function attemptsOfAgents(
  db: Reads,
): Promise<readonly Pick<AttemptRow, 'task_id' | 'branch' | 'base_sha' | 'commit_sha'>[]> {
  return await db
    .selectFrom('attempts as a')
    .innerJoin('tasks as t', 't.id', 'a.task_id')
    .select(['a.task_id', 'a.branch', 'a.base_sha', 'a.commit_sha'])
    .where('t.status', 'in', [...agentsOwn])
    .where('a.state', 'in', [...atWorkOrQueued])
    .where('a.base_sha', 'is not', null)
    .orderBy('a.task_id')
    .execute();
}

/** When the latest unfinished attempt started (Unix ms); 0 if there is none. */
export async function newestUnendedMs(db: Reads): Promise<number> {
  const newest = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.max('started_at_ms').as('at'))
    .where('state', 'in', [...atWorkOrQueued])
    .executeTakeFirst();
  return newest?.at ?? 0;
}

/** Counts failed tries at a plan. A plan that a person sent back does not count. */
export async function countFailedPlans(db: Reads, taskId: string): Promise<number> {
  const failed = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('task_id', '=', taskId)
    .where('planning', '=', 1)
    .where('state', '=', 'failed')
    .where((eb) => eb.or([eb('failure_kind', 'is', null), eb('failure_kind', '!=', 'sent_back')]))
    .executeTakeFirstOrThrow();
  return failed.n;
}

/** The commit of the latest attempt before the given number that made one. */
export async function lastCommitBefore(
  db: Reads,
  taskId: string,
  number: number,
): Promise<string | null> {
  const row = await db
    .selectFrom('attempts')
    .select('commit_sha')
    .where('task_id', '=', taskId)
    .where('number', '<', number)
    .where('commit_sha', 'is not', null)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.commit_sha ?? null;
}

/** Snapshots of a task whose attempts were reset since it started. Empty if they never were. */
export async function refsKeptWhenReturned(
  db: Reads,
  taskId: string,
  attempt: number,
): Promise<readonly string[]> {
  const row = await db
    .selectFrom('attempts as a')
    .innerJoin('tasks as t', 't.id', 'a.task_id')
    .innerJoin('events as e', 'e.task_id', 'a.task_id')
    .select('t.rescue_refs')
    .where('a.task_id', '=', taskId)
    .where('a.number', '=', attempt)
    .where('e.type', '=', 'task.returned')
    .whereRef('e.at_ms', '>=', 'a.started_at_ms')
    .limit(1)
    .executeTakeFirst();
  return textList(row?.rescue_refs ?? null);
}
