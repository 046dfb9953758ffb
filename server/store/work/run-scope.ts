// The tasks in the scope of a run: those of an epic, all, or only the ones that it was started for
// with their dependencies.

import type { Reads, RunRow, TaskRow } from '../schema/tables.ts';
import { epicsOfOthers } from './run-shares.ts';
import { tasksOfRun } from './runs.ts';
import type { Scope } from '../rows/scope.ts';

/** The scope of a run beside the other active runs. */
export async function scopeOfRun(
  db: Reads,
  run: RunRow,
  active: readonly RunRow[],
): Promise<Scope> {
  const named = tasksOfRun(run);
  return {
    epicId: run.epic_id,
    exceptEpics: epicsOfOthers(active, run),
    tasks: named === null ? null : await withBlockers(db, named),
    on: { line: run.line, target: run.target_branch },
  };
}

/**
 * The tasks with their sub-tasks and all direct and indirect blockers. Blockers of finished tasks
 * are ignored.
 */
export async function withBlockers(
  db: Reads,
  named: readonly string[],
): Promise<readonly string[]> {
  const found = new Set(named);
  let fresh = [...found];
  while (fresh.length > 0) {
    const near = [...(await familyOf(db, fresh)), ...(await unfinishedBlockers(db, fresh))];
    fresh = [...new Set(near)].filter((id) => !found.has(id));
    for (const id of fresh) found.add(id);
  }
  return [...found];
}

/** Parents and sub-tasks, because a task starts and ends with them. */
async function familyOf(db: Reads, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('tasks')
    .select(['id', 'parent_id'])
    .where((eb) => eb.or([eb('parent_id', 'in', [...ids]), eb('id', 'in', [...ids])]))
    .execute();
  return rows.flatMap(({ id, parent_id: parent }) => (parent === null ? [id] : [id, parent]));
}

async function unfinishedBlockers(db: Reads, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('task_dependencies as d')
    .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
    .select('b.id')
    .where('d.task_id', 'in', [...ids])
    .where('b.status', '!=', 'completed')
    .execute();
  return rows.map(({ id }) => id);
}

/** Distinct epics of unfinished tasks. Returns null if some tasks have no epic. */
export async function epicsOfTasks(
  db: Reads,
  ids: readonly string[],
): Promise<readonly TaskRow['epic_id'][]> {
  const rows = await db
    .selectFrom('tasks')
    .select('epic_id')
    .distinct()
    .where('id', 'in', [...ids])
    .where('status', '!=', 'completed')
    .execute();
  return rows.map((row) => row.epic_id);
}
