// Adds a task. All checks run before the first row is written.

import { Refusal } from '../../core/failure.ts';
import { withCriteria, withoutCriteria } from '../../core/exchange/import-record.ts';
import { subTaskIdInTitle } from '../../core/ids.ts';
import { normalPriority } from '../../core/plan/priority.ts';
import type { TaskFields } from '../../protocol/task-fields.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { refuseCandidates, refuseUnknownTasks, taskOrRefuse } from '../rows/find-rows.ts';
import { raiseChains, rebuildChains, refuseLoops } from '../status/graph-rows.ts';
import { refreshReadiness, withParents } from '../status/readiness.ts';
import { textList } from '../rows/one-moment.ts';
import type { TaskRow, Tx } from '../schema/tables.ts';
import { checkTaskFields } from './task-fields.ts';
import { nextTaskId, resolvePlace } from './task-place.ts';
import { unmetBlockers } from '../status/transition.ts';
import { lastAttempt } from '../work/claims.ts';

export interface NewTaskFields extends TaskFields {
  readonly title: string;
  /** The number among the parent's sub-tasks. Absent = the next one. */
  readonly sequence?: number;
  /** Requested by the parent's agent during its attempt. */
  readonly byAgent?: boolean;
}

export const blockersMax = 1_000;

/**
 * Adds the task and its edges. Resolves with its row, which is ready or blocked depending on its
 * blockers.
 */
export async function addTask(
  tx: Tx,
  sources: StoreSources,
  given: NewTaskFields,
): Promise<TaskRow> {
  const fields = withTitlePrefix(given);
  const { title, description, ...columns } = checkTaskFields(fields);
  const continued = await continuedTask(tx, columns.continues ?? null);
  const place = await resolvePlace(tx, sources, {
    parent: fields.parent ?? null,
    ...(fields.sequence === undefined ? {} : { sequence: fields.sequence }),
    ...epicOfNew(fields, continued),
    ...(fields.byAgent === undefined ? {} : { byAgent: fields.byAgent }),
  });
  const blockers = distinctBlockers([...(fields.blocked_by ?? []), ...(fields.add_blockers ?? [])]);
  await refuseUnknownTasks(tx, blockers);
  await refuseCandidates(tx, blockers);
  const id = await nextTaskId(tx, sources, place);
  const now = Math.floor(sources.clock.now() / 1000);
  await tx
    .insertInto('tasks')
    .values({
      // The column's default is 0, which is lower than low.
      priority: normalPriority,
      ...(continued === null || columns.agent !== undefined ? {} : sameAgent(continued)),
      ...columns,
      ...place,
      id,
      title: title ?? '',
      description: storedDescription(
        description ?? '',
        textList(columns.acceptance_criteria ?? null),
      ),
      created_at: now,
      updated_at: now,
      position: await nextTaskPosition(tx),
    })
    .execute();
  await insertBlockers(tx, id, blockers);
  await settleNewTask(tx, sources, id, place.parent_id, blockers);
  return taskOrRefuse(tx, id);
}

/** Refuses an unknown task, and one that no agent has worked on. */
export async function continuedTask(tx: Tx, id: string | null): Promise<TaskRow | null> {
  if (id === null) return null;
  const row = await taskOrRefuse(tx, id);
  if ((await lastAttempt(tx, row.id)) !== null) return row;
  throw new Refusal(
    'bad_value',
    `No agent has worked on ${row.id} yet, so no conversation exists to continue. Edit ${row.id} instead.`,
  );
}

/** The agent that can continue the conversation. */
function sameAgent({ agent, model }: TaskRow): Pick<TaskRow, 'agent' | 'model'> {
  return { agent, model };
}

/** A follow-up stays in the epic of the task that it continues. */
function epicOfNew(
  { epic, parent }: NewTaskFields,
  continued: TaskRow | null,
): { readonly epic?: string | null } {
  if (epic !== undefined) return { epic };
  const isTop = parent === undefined || parent === null;
  return continued === null || !isTop ? {} : { epic: continued.epic_id };
}

/** The description with the criteria at its end, once; null if both are empty. */
export function storedDescription(text: string, criteria: readonly string[]): string | null {
  const stored = withCriteria(withoutCriteria(text, criteria), criteria);
  return stored === '' ? null : stored;
}

/** A title that starts with `task-x.5 ` creates sub-task 5 of `task-x`. */
function withTitlePrefix(fields: NewTaskFields): NewTaskFields {
  if (fields.parent !== undefined && fields.parent !== null) return fields;
  const prefix = subTaskIdInTitle(fields.title);
  if (prefix === null) return fields;
  return { ...fields, title: prefix.title, parent: prefix.parent, sequence: prefix.n };
}

/**
 * Applies the effects of a new task's edges: its first status, its parents' readiness, and the
 * chains.
 */
async function settleNewTask(
  tx: Tx,
  sources: StoreSources,
  id: string,
  parentId: string | null,
  blockers: readonly string[],
): Promise<void> {
  const graph = parentId !== null && blockers.length > 0 ? await refuseLoops(tx, id, null) : null;
  const unmet = await unmetBlockers(tx, id);
  const status = unmet.length > 0 ? 'blocked' : 'ready';
  if (status === 'blocked') {
    // This is not a transition, because the task had no status before.
    await tx.updateTable('tasks').set({ status }).where('id', '=', id).execute();
  }
  const row = await taskOrRefuse(tx, id);
  await appendEvent(tx, sources, {
    type: 'task.created',
    taskId: id,
    epicId: row.epic_id,
    data: { title: row.title, status, parent: parentId, blocked_by: blockers },
  });
  if (parentId !== null) await refreshReadiness(tx, sources, await withParents(tx, parentId));
  if (graph !== null) await rebuildChains(tx, graph);
  else if (blockers.length > 0) await raiseChains(tx, id);
}

export async function nextTaskPosition(tx: Tx): Promise<number> {
  const row = await tx
    .selectFrom('tasks')
    .select((eb) => eb.fn.max('position').as('last'))
    .executeTakeFirst();
  return (row?.last ?? 0) + 1;
}

export function distinctBlockers(ids: readonly string[]): string[] {
  const distinct = [...new Set(ids.map((id) => id.trim()))];
  if (distinct.length > blockersMax) {
    throw new Refusal(
      'bad_value',
      `${distinct.length} blockers were given, ${blockersMax} are allowed; put a task between them.`,
    );
  }
  return distinct;
}

export async function insertBlockers(
  tx: Tx,
  taskId: string,
  blockers: readonly string[],
): Promise<void> {
  if (blockers.length === 0) return;
  await tx
    .insertInto('task_dependencies')
    .values(blockers.map((blocker) => ({ task_id: taskId, blocked_by: blocker })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
