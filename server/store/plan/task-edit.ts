// Edits a task, even while it runs: fields, epic, parent and blockers, with the effects of these
// changes.

import { Refusal } from '../../core/failure.ts';
import { withoutCriteria } from '../../core/exchange/import-record.ts';
import { ownedStatuses } from '../../core/plan/state.ts';
import type { TaskFields } from '../../protocol/task-fields.ts';
import { openEpicForTask } from './epics.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import {
  epicOrRefuse,
  refuseCandidates,
  refuseUnknownTasks,
  taskOrRefuse,
} from '../rows/find-rows.ts';
import { dropPlans } from '../status/plans.ts';
import { readGraph, rebuildChains, refuseLoops } from '../status/graph-rows.ts';
import { textList } from '../rows/one-moment.ts';
import { refreshReadiness, withParents } from '../status/readiness.ts';
import type { TaskRow, Tx } from '../schema/tables.ts';
import { checkTaskFields } from './task-fields.ts';
import { resolvePlace } from './task-place.ts';
import { continuedTask, distinctBlockers, insertBlockers, storedDescription } from './tasks.ts';
import { taskAndSubTaskIds, rootTaskId } from '../status/transition.ts';
import { epicLinePrefix } from '../../core/plan/outcome.ts';

/** Changes only the given fields. Resolves with the new row. */
export async function editTask(
  tx: Tx,
  sources: StoreSources,
  id: string,
  fields: TaskFields,
): Promise<TaskRow> {
  const row = await taskOrRefuse(tx, id);
  const before = touchesGraph(fields) ? await readGraph(tx) : null;
  const changed = [
    ...(await writeColumns(tx, row, fields)),
    ...(await moveTask(tx, sources, row, fields)),
    ...(await writeBlockers(tx, row, fields)),
    // Setting it again requests a new plan that replaces the approved one.
    ...(fields.plan === true && (await dropPlans(tx, sources, id, ['approved'])) > 0
      ? ['plan']
      : []),
  ];
  if (changed.length === 0) return row;
  await tx
    .updateTable('tasks')
    .set({ updated_at: Math.floor(sources.clock.now() / 1000) })
    .where('id', '=', id)
    .execute();
  const after = await taskOrRefuse(tx, id);
  await appendEvent(tx, sources, {
    type: 'task.edited',
    taskId: id,
    epicId: after.epic_id,
    data: {
      title: after.title,
      changed,
      ...(after.parent_id === row.parent_id ? {} : { from_parent: row.parent_id }),
    },
  });
  if (!changed.includes('blocked_by') && !changed.includes('parent')) return after;
  await rebuildChains(tx, await refuseLoops(tx, id, before));
  const touched = new Set([...(await withParents(tx, id)), ...(await taskAndSubTaskIds(tx, id))]);
  if (changed.includes('parent')) {
    // The move changes which tasks are relatives, for everything below both topmost tasks.
    for (const member of await taskAndSubTaskIds(tx, await rootTaskId(tx, id))) touched.add(member);
    const oldRoot = row.parent_id === null ? id : await rootTaskId(tx, row.parent_id);
    for (const member of await taskAndSubTaskIds(tx, oldRoot)) touched.add(member);
  }
  await refreshReadiness(tx, sources, touched);
  return taskOrRefuse(tx, id);
}

function touchesGraph(fields: TaskFields): boolean {
  return [fields.parent, fields.blocked_by, fields.add_blockers, fields.remove_blockers].some(
    (field) => field !== undefined,
  );
}

async function writeColumns(tx: Tx, row: TaskRow, fields: TaskFields): Promise<string[]> {
  const { description, ...columns } = checkTaskFields(fields);
  await continuedTask(tx, columns.continues ?? null);
  const set: Partial<TaskRow> = columns;
  if (description !== undefined || columns.acceptance_criteria !== undefined) {
    const oldCriteria = textList(row.acceptance_criteria);
    const criteria =
      columns.acceptance_criteria === undefined
        ? oldCriteria
        : textList(columns.acceptance_criteria);
    const base =
      description === undefined
        ? withoutCriteria(row.description ?? '', oldCriteria)
        : (description ?? '');
    set.description = storedDescription(base, criteria);
  }
  const changed = (Object.keys(set) as (keyof TaskRow)[]).filter((key) => set[key] !== row[key]);
  if (changed.length > 0) {
    await tx.updateTable('tasks').set(set).where('id', '=', row.id).execute();
  }
  return changed;
}

/** Moves the task to another parent or epic, together with its sub-tasks. */
async function moveTask(
  tx: Tx,
  sources: StoreSources,
  row: TaskRow,
  fields: TaskFields,
): Promise<string[]> {
  const parent = fields.parent === undefined ? row.parent_id : fields.parent;
  if (parent !== row.parent_id) return moveToParent(tx, sources, row, fields);
  const epic = fields.epic === undefined ? row.epic_id : fields.epic;
  if (epic === row.epic_id) return [];
  if (row.parent_id !== null) {
    throw new Refusal(
      'bad_value',
      `${row.id} is a sub-task and belongs to the epic of its parent. Change the epic of ${await rootTaskId(tx, row.id)} instead.`,
    );
  }
  await refuseMoveOfWork(tx, row);
  if (epic !== null) await openEpicForTask(tx, sources, epic);
  await writeEpic(tx, row.id, epic);
  return ['epic'];
}

/**
 * An attempt lands on the line of the epic that it started in, so the task must not be moved away
 * from its work.
 */
async function refuseMoveOfWork(tx: Tx, row: TaskRow): Promise<void> {
  if (ownedStatuses.has(row.status)) {
    throw new Refusal(
      'bad_state',
      `${row.id} is running and lands with ${row.epic_id ?? 'no epic'}. Pause it first, or move it when it is done.`,
    );
  }
  if (row.status !== 'completed' || row.epic_id === null) return;
  const epic = await epicOrRefuse(tx, row.epic_id);
  if (`${epicLinePrefix}${epic.id}` !== row.landed_on || epic.landing_state === 'landed') return;
  throw new Refusal(
    'bad_state',
    `${row.id} is done, but its epic ${epic.id} has not landed. Move it after that.`,
  );
}

async function moveToParent(
  tx: Tx,
  sources: StoreSources,
  row: TaskRow,
  fields: TaskFields,
): Promise<string[]> {
  const parent = fields.parent ?? null;
  const root = await taskOrRefuse(tx, await rootTaskId(tx, row.id));
  if (ownedStatuses.has(row.status) || ownedStatuses.has(root.status)) {
    throw new Refusal(
      'bad_state',
      `${row.id} is running and cannot move to another parent. Pause ${root.id} first.`,
    );
  }
  const family = await taskAndSubTaskIds(tx, row.id);
  if (parent !== null && family.includes(parent)) {
    throw new Refusal('cycle', `${row.id} cannot be a sub-task of itself (${parent}).`);
  }
  const place = await resolvePlace(tx, sources, {
    parent,
    epic:
      parent === null
        ? fields.epic === undefined
          ? row.epic_id
          : fields.epic
        : (fields.epic ?? null),
    levelsBelow: await levelsBelow(tx, row.id),
  });
  await tx.updateTable('tasks').set(place).where('id', '=', row.id).execute();
  await writeEpic(tx, row.id, place.epic_id);
  return ['parent', ...(place.epic_id === row.epic_id ? [] : ['epic'])];
}

async function writeEpic(tx: Tx, id: string, epic: string | null): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ epic_id: epic })
    .where('id', 'in', await taskAndSubTaskIds(tx, id))
    .execute();
}

async function levelsBelow(tx: Tx, id: string): Promise<number> {
  const children = await tx.selectFrom('tasks').select('id').where('parent_id', '=', id).execute();
  if (children.length === 0) return 0;
  const below = await tx
    .selectFrom('tasks')
    .select('id')
    .where(
      'parent_id',
      'in',
      children.map((child) => child.id),
    )
    .limit(1)
    .execute();
  return below.length === 0 ? 1 : 2;
}

async function writeBlockers(tx: Tx, row: TaskRow, fields: TaskFields): Promise<string[]> {
  if (
    fields.blocked_by === undefined &&
    fields.add_blockers === undefined &&
    fields.remove_blockers === undefined
  ) {
    return [];
  }
  const known = await tx
    .selectFrom('task_dependencies')
    .select('blocked_by')
    .where('task_id', '=', row.id)
    .orderBy('blocked_by')
    .execute();
  const old = new Set(known.map((edge) => edge.blocked_by));
  const next = new Set(
    distinctBlockers([...(fields.blocked_by ?? old), ...(fields.add_blockers ?? [])]),
  );
  for (const blocker of fields.remove_blockers ?? []) {
    if (!next.delete(blocker.trim()) && !old.has(blocker.trim()))
      throw notABlocker(row, blocker, old);
  }
  const added = [...next].filter((blocker) => !old.has(blocker));
  const removed = [...old].filter((blocker) => !next.has(blocker));
  if (added.length === 0 && removed.length === 0) return [];
  await refuseUnknownTasks(tx, added);
  await refuseCandidates(tx, added);
  if (added.includes(row.id)) {
    throw new Refusal(
      'cycle',
      `${row.id} would wait for itself: ${row.id} → ${row.id}; leave it out.`,
    );
  }
  if (removed.length > 0) {
    await tx
      .deleteFrom('task_dependencies')
      .where('task_id', '=', row.id)
      .where('blocked_by', 'in', removed)
      .execute();
  }
  await insertBlockers(tx, row.id, added);
  return ['blocked_by'];
}

function notABlocker(row: TaskRow, blocker: string, old: ReadonlySet<string>): Refusal {
  const present = old.size === 0 ? 'it has no blockers' : `its blockers are ${[...old].join(', ')}`;
  return new Refusal(
    'unknown_id',
    `${row.id} is not blocked by "${blocker}" (${present}); name one of them.`,
  );
}
