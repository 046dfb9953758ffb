// The only function that changes a task's status. It checks the transition table, refuses an older
// owner, writes the row and the event in the caller's transaction, and applies the effects on
// dependents and sub-tasks.

import { isLegalTransition, type TaskStatus } from '../../core/plan/state.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { taskById } from '../rows/find-rows.ts';
import { dropPlans } from './plans.ts';
import type { StoreTables, TaskRow, TaskTable, Tx } from '../schema/tables.ts';
import type { Kysely, Updateable } from 'kysely';

export interface Transition {
  readonly taskId: string;
  /** `ready` means ready or blocked, depending on the blockers. */
  readonly to: TaskStatus;
  readonly event: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly runId?: string | null;
  /** The owner's fencing number. Refused if the task has been claimed again since. */
  readonly epoch?: number;
  /** Refused unless the current status is one of these. */
  readonly from?: readonly TaskStatus[];
  /**
   * Set for a sub-task whose turn has come in its parent's attempt. Blockers that were added since
   * the attempt started no longer hold it.
   */
  readonly isItsTurn?: boolean;
  readonly set?: TransitionSet;
}

/** Other columns to set. The transition sets the status itself. */
export type TransitionSet = Omit<Updateable<TaskTable>, 'id' | 'status'>;

/** For the `set` of a transition: no attempt owns the task any more. */
export const noOwner = { phase: null, claimed_by: null, claimed_at: null } as const;
/** The stop that a person requested from that attempt has also been carried out. */
export const noStop = { stop_requested: null, stop_reason: null } as const;

export type TransitionOutcome =
  | { readonly ok: true; readonly from: TaskStatus; readonly to: TaskStatus }
  | {
      readonly ok: false;
      readonly reason: 'unknown' | 'illegal' | 'fenced';
      readonly status: TaskStatus | null;
    };

const lastingStatuses: ReadonlySet<TaskStatus> = new Set([
  'in_progress',
  'claimed',
  'waiting',
  'needs_review',
  'paused',
  'conflict',
]);

/**
 * Blockers of the task and of its sub-tasks that are not completed. Blockers within the same family
 * are satisfied by the order of the sub-tasks.
 */
export async function unmetBlockers(tx: Kysely<StoreTables>, taskId: string): Promise<string[]> {
  const family = await taskAndSubTaskIds(tx, taskId);
  const root = await rootTaskId(tx, taskId);
  const relatives = root === taskId ? family : await taskAndSubTaskIds(tx, root);
  const rows = await tx
    .selectFrom('task_dependencies as d')
    .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
    .select('d.blocked_by')
    .distinct()
    .where('d.task_id', 'in', family)
    .where('b.status', '!=', 'completed')
    .where('d.blocked_by', 'not in', relatives)
    .orderBy('d.blocked_by')
    .execute();
  return rows.map((row) => row.blocked_by);
}

/** The task and all of its sub-tasks (at most two levels). */
export async function taskAndSubTaskIds(
  tx: Kysely<StoreTables>,
  taskId: string,
): Promise<string[]> {
  const family = [taskId];
  let level = [taskId];
  for (let depth = 0; depth < 3 && level.length > 0; depth += 1) {
    const rows = await tx
      .selectFrom('tasks')
      .select('id')
      .where('parent_id', 'in', level)
      .execute();
    level = rows.map((row) => row.id);
    family.push(...level);
  }
  return family;
}

/** The task that is scheduled for this one: itself or its topmost parent. */
export async function rootTaskId(tx: Kysely<StoreTables>, taskId: string): Promise<string> {
  let id = taskId;
  for (let depth = 0; depth < 4; depth += 1) {
    const row = await tx
      .selectFrom('tasks')
      .select('parent_id')
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined || row.parent_id === null) return id;
    id = row.parent_id;
  }
  return id;
}

export async function transition(
  tx: Tx,
  sources: StoreSources,
  change: Transition,
): Promise<TransitionOutcome> {
  const row = await taskById(tx, change.taskId);
  if (row === null) return { ok: false, reason: 'unknown', status: null };
  if (change.epoch !== undefined && row.epoch !== change.epoch) {
    return { ok: false, reason: 'fenced', status: row.status };
  }
  const from = row.status;
  if (change.from !== undefined && !change.from.includes(from)) {
    return { ok: false, reason: 'illegal', status: from };
  }
  const mayWait = change.to === 'ready' && change.isItsTurn !== true;
  const unmet = mayWait ? await unmetBlockers(tx, change.taskId) : [];
  const to: TaskStatus = unmet.length > 0 ? 'blocked' : change.to;
  if (from === to || !isLegalTransition(from, to)) {
    return { ok: false, reason: 'illegal', status: from };
  }
  await writeStatus(tx, sources, row, to, change);
  if (to === 'completed') await unblockDependents(tx, sources, change.taskId);
  if (from === 'completed') await blockDependents(tx, sources, change.taskId);
  await carrySubTasks(tx, sources, change, from, to);
  return { ok: true, from, to };
}

/** In these statuses, `blocked_by` contains the reason. */
const heldStatuses: ReadonlySet<TaskStatus> = new Set([
  'blocked',
  'paused',
  'completed',
  'cancelled',
]);

async function writeStatus(
  tx: Tx,
  sources: StoreSources,
  row: TaskRow,
  to: TaskStatus,
  change: Transition,
): Promise<void> {
  const cleared: Updateable<TaskTable> = lastingStatuses.has(to) ? {} : { ...noOwner, ...noStop };
  const waking: Updateable<TaskTable> = {
    ...(row.status === 'waiting' ? { waiting_until_ms: null } : {}),
    ...(row.status === 'blocked' ? { blocked_reason: null } : {}),
    ...(heldStatuses.has(row.status) ? { blocked_by: null } : {}),
    ...(row.status === 'needs_review' ? { review_kind: null } : {}),
  };
  await tx
    .updateTable('tasks')
    .set({
      ...cleared,
      ...waking,
      ...change.set,
      status: to,
      updated_at: Math.floor(sources.clock.now() / 1000),
    })
    .where('id', '=', row.id)
    .execute();
  // A decided plan has a different state. If the task left its review without a decision (canceled,
  // retried), the plan will never be decided.
  if (row.review_kind === 'plan') await dropPlans(tx, sources, row.id, ['proposed']);
  await appendEvent(tx, sources, {
    type: change.event,
    taskId: row.id,
    epicId: row.epic_id,
    runId: change.runId ?? null,
    data: {
      title: row.title,
      from: row.status,
      status: to,
      ...(await workerFacts(tx, sources, row, to)),
      ...change.data,
    },
  });
}

/** The agent that works or worked on it and, at its end, for how long (milliseconds). */
async function workerFacts(
  tx: Tx,
  sources: StoreSources,
  row: TaskRow,
  to: TaskStatus,
): Promise<Readonly<Record<string, unknown>>> {
  if (row.claimed_by === null || (to !== 'in_progress' && to !== 'completed')) return {};
  const worker = row.claimed_by;
  if (to === 'in_progress') return { worker };
  const attempt = await tx
    .selectFrom('attempts')
    .select('started_at_ms')
    .where('task_id', '=', row.id)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (attempt === undefined) return { worker };
  return { worker, duration: Math.max(0, sources.clock.now() - attempt.started_at_ms) };
}

/**
 * Landing a blocker changes only dependents that are blocked by tasks. A task with an external
 * block keeps its reason.
 */
async function unblockDependents(tx: Tx, sources: StoreSources, blocker: string): Promise<void> {
  for (const id of await dependentsOf(tx, blocker)) {
    const row = await tx
      .selectFrom('tasks')
      .select(['status', 'blocked_reason'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row?.status !== 'blocked' || row.blocked_reason !== null) continue;
    if ((await unmetBlockers(tx, id)).length > 0) continue;
    await transition(tx, sources, {
      taskId: id,
      to: 'ready',
      event: 'task.unblocked',
      data: { by: blocker },
    });
  }
}

/** When a completed task is reset, dependents that have not started are no longer ready. */
async function blockDependents(tx: Tx, sources: StoreSources, blocker: string): Promise<void> {
  for (const id of await dependentsOf(tx, blocker)) {
    // Relatives do not block each other, because they run one after another inside one attempt.
    if ((await unmetBlockers(tx, id)).length === 0) continue;
    await transition(tx, sources, {
      taskId: id,
      to: 'blocked',
      from: ['ready'],
      event: 'task.blocked',
      data: { by: blocker },
    });
  }
}

/** Tasks whose readiness can depend on the blocker: those that name it, and their ancestors. */
async function dependentsOf(tx: Tx, blocker: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('task_dependencies')
    .select('task_id')
    .where('blocked_by', '=', blocker)
    .orderBy('task_id')
    .execute();
  const ids = new Set<string>();
  for (const { task_id: id } of rows) {
    let current: string | null = id;
    for (let depth = 0; current !== null && depth < 4; depth += 1) {
      ids.add(current);
      const parent: { parent_id: string | null } | undefined = await tx
        .selectFrom('tasks')
        .select('parent_id')
        .where('id', '=', current)
        .executeTakeFirst();
      current = parent?.parent_id ?? null;
    }
  }
  return [...ids];
}

/**
 * Applies a status to sub-tasks, which have no attempt of their own and follow their parent's. A
 * sub-task that was running when the attempt ended becomes ready again. If the parent is completed,
 * canceled or failed, so are all of its sub-tasks.
 */
async function carrySubTasks(
  tx: Tx,
  sources: StoreSources,
  change: Transition,
  from: TaskStatus,
  to: TaskStatus,
): Promise<void> {
  const mapping = subTaskFate(from, to);
  if (mapping === null) return;
  const rows = await tx
    .selectFrom('tasks')
    .select(['id', 'status'])
    .where('parent_id', '=', change.taskId)
    .orderBy('sequence_number')
    .execute();
  for (const row of rows) {
    const next = mapping(row.status);
    if (next === null || next === row.status) continue;
    if (next === 'completed' && row.status !== 'in_progress')
      await beginSubTask(tx, sources, row.id);
    await transition(tx, sources, {
      taskId: row.id,
      to: next,
      event: subTaskEvents[next] ?? 'task.retry',
      runId: change.runId ?? null,
      data: { parent: change.taskId },
      ...(next === 'completed'
        ? {
            set: {
              landed_sha: change.set?.landed_sha ?? null,
              landed_on: change.set?.landed_on ?? null,
              verdict: 'pass',
            },
          }
        : {}),
    });
  }
}

const subTaskEvents: { readonly [S in TaskStatus]?: string } = {
  completed: 'task.completed',
  cancelled: 'task.cancelled',
  failed: 'task.failed',
  ready: 'task.retry',
};

/**
 * The new status of a sub-task. A completed sub-task of an unfinished task was finished elsewhere
 * (before an import, or before it was moved below this parent), so changes of the parent never run
 * it again.
 */
function subTaskFate(
  from: TaskStatus,
  to: TaskStatus,
): ((status: TaskStatus) => TaskStatus | null) | null {
  const goesBack: readonly TaskStatus[] = [
    'in_progress',
    'failed',
    'claimed',
    ...(from === 'completed' ? (['completed'] as const) : []),
    ...(from === 'cancelled' ? (['cancelled'] as const) : []),
  ];
  switch (to) {
    case 'completed':
      return (status) => (status === 'cancelled' ? null : 'completed');
    case 'cancelled':
      return (status) => (status === 'completed' ? null : 'cancelled');
    case 'failed':
      return (status) => (status === 'in_progress' ? 'failed' : null);
    case 'ready':
    case 'blocked':
    case 'paused':
    case 'conflict':
      return (status) => (goesBack.includes(status) ? 'ready' : null);
    case 'claimed':
    case 'in_progress':
    case 'waiting':
    case 'needs_review':
      return null;
  }
}

/** Moves a sub-task to `in_progress` when its turn comes inside the parent's attempt. */
export async function beginSubTask(tx: Tx, sources: StoreSources, taskId: string): Promise<void> {
  const row = await tx
    .selectFrom('tasks')
    .select('status')
    .where('id', '=', taskId)
    .executeTakeFirst();
  if (row === undefined || row.status === 'in_progress') return;
  if (row.status !== 'ready' && row.status !== 'claimed') {
    const isItsTurn = true;
    await transition(tx, sources, { taskId, to: 'ready', event: 'task.retry', isItsTurn });
  }
  await transition(tx, sources, { taskId, to: 'claimed', event: 'task.claimed' });
  await transition(tx, sources, { taskId, to: 'in_progress', event: 'task.started' });
}
