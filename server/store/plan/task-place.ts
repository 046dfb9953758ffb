// The place of a task: its parent, its number among the sub-tasks, its epic and its id.

import { Refusal } from '../../core/failure.ts';
import { checkId, subTaskId } from '../../core/ids.ts';
import type { TaskStatus } from '../../core/plan/state.ts';
import { freshId, openEpicForTask } from './epics.ts';
import type { StoreSources } from '../feed/feed.ts';
import { epicOrRefuse, isIdTaken, taskOrRefuse } from '../rows/find-rows.ts';
import type { TaskRow, Tx } from '../schema/tables.ts';

export interface Place {
  readonly parent_id: string | null;
  /** Position among the parent's sub-tasks, from 1; 0 without a parent. */
  readonly sequence_number: number;
  readonly epic_id: string | null;
}

export const subTaskLevelsMax = 2;

export interface WantedPlace {
  readonly parent: string | null;
  /** The number among the sub-tasks. Absent = the next free one. */
  readonly sequence?: number;
  /** Absent = the parent's epic, or none. */
  readonly epic?: string | null;
  /** Number of levels of sub-tasks below the task. */
  readonly levelsBelow?: number;
  /** The parent's own agent adds the task, which is done before the parent's attempt ends. */
  readonly byAgent?: boolean;
}

/** Checks that a task may be placed there. */
export async function resolvePlace(
  tx: Tx,
  sources: StoreSources,
  wanted: WantedPlace,
): Promise<Place> {
  if (wanted.parent === null) {
    const epic = wanted.epic ?? null;
    if (epic !== null) await openEpicForTask(tx, sources, epic);
    return { parent_id: null, sequence_number: 0, epic_id: epic };
  }
  const parent = await taskOrRefuse(tx, wanted.parent);
  if (wanted.byAgent !== true || parent.status !== 'in_progress') refuseByStatus(parent);
  const level = await levelOf(tx, parent);
  if (level + 1 + (wanted.levelsBelow ?? 0) > subTaskLevelsMax) {
    throw new Refusal(
      'depth',
      `Only ${subTaskLevelsMax} levels of sub-tasks are allowed, and below ${parent.id} that would be more; put the task one level higher.`,
    );
  }
  if (wanted.epic !== undefined && wanted.epic !== null && wanted.epic !== parent.epic_id) {
    await epicOrRefuse(tx, wanted.epic);
    throw new Refusal(
      'bad_value',
      `A sub-task belongs to the epic of its parent (${parent.id}: ${parent.epic_id ?? 'no epic'}), not to ${wanted.epic}; leave the epic out.`,
    );
  }
  return {
    parent_id: parent.id,
    sequence_number: await freeSequence(tx, parent.id, wanted.sequence),
    epic_id: parent.epic_id,
  };
}

const refusals: { readonly [S in TaskStatus]?: string } = {
  completed: 'is completed; add an ordinary task, or reset the parent first',
  cancelled: 'is cancelled; retry it first, or add an ordinary task',
  claimed: 'is running and would not see a new sub-task; pause it first, or add an ordinary task',
  in_progress:
    'is running and would not see a new sub-task; pause it first, or add an ordinary task',
  needs_review: 'waits for a review; send it back first, or add an ordinary task',
};

function refuseByStatus(parent: TaskRow): void {
  const why = refusals[parent.status];
  if (why === undefined) return;
  throw new Refusal('bad_state', `${parent.id} cannot get a sub-task: it ${why}.`);
}

/** 0 for a task without a parent, 1 for its sub-tasks, 2 for theirs. */
async function levelOf(tx: Tx, row: TaskRow): Promise<number> {
  let level = 0;
  let parentId = row.parent_id;
  while (parentId !== null && level <= subTaskLevelsMax) {
    level += 1;
    const parent: { parent_id: string | null } | undefined = await tx
      .selectFrom('tasks')
      .select('parent_id')
      .where('id', '=', parentId)
      .executeTakeFirst();
    parentId = parent?.parent_id ?? null;
  }
  return level;
}

async function freeSequence(tx: Tx, parentId: string, wanted?: number): Promise<number> {
  const row = await tx
    .selectFrom('tasks')
    .select((eb) => eb.fn.max('sequence_number').as('last'))
    .where('parent_id', '=', parentId)
    .executeTakeFirst();
  if (wanted === undefined) return (row?.last ?? 0) + 1;
  const taken = await tx
    .selectFrom('tasks')
    .select('id')
    .where('parent_id', '=', parentId)
    .where('sequence_number', '=', wanted)
    .executeTakeFirst();
  if (taken === undefined) return wanted;
  throw new Refusal(
    'id_taken',
    `Sub-task ${wanted} of ${parentId} exists already (${taken.id}); leave the number out to get the next one.`,
  );
}

/** `<parent>.<n>` for a sub-task that is numbered here, otherwise a new id. */
export async function nextTaskId(tx: Tx, sources: StoreSources, place: Place): Promise<string> {
  if (place.parent_id === null) return freshId(tx, sources, 'task');
  const id = subTaskId(place.parent_id, place.sequence_number);
  // A long imported parent id leaves no room for the number, and an import may have used the id for
  // another task.
  if (!checkId(id).ok || (await isIdTaken(tx, id))) return freshId(tx, sources, 'task');
  return id;
}
