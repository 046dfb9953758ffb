// Finds tasks and epics by id. If one is missing, returns null or a refusal that names the id and
// the remedy.

import { Refusal } from '../../core/failure.ts';
import type { TaskStatus } from '../../core/plan/state.ts';
import { shown } from './field-checks.ts';
import { inParts, type Db } from './one-moment.ts';
import type { EpicRow, TaskRow } from '../schema/tables.ts';

export async function taskById(db: Db, id: string): Promise<TaskRow | null> {
  const row = await db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

export async function epicById(db: Db, id: string): Promise<EpicRow | null> {
  const row = await db.selectFrom('epics').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

export async function taskOrRefuse(db: Db, id: string): Promise<TaskRow> {
  const row = await taskById(db, id);
  if (row !== null) return row;
  throw unknownTask(id);
}

/** For tasks that must exist, because a task with attempts is never removed. */
export async function existingTask(db: Db, id: string): Promise<TaskRow> {
  const row = await taskById(db, id);
  if (row === null) throw new Error(`task ${id} is missing`);
  return row;
}

export function unknownTask(id: string): Refusal {
  return new Refusal(
    'unknown_id',
    `Task "${shown(id)}" does not exist in this project. Run "drover status" to list the ids.`,
  );
}

/** Top-level tasks: these or, if none are given, those in one of the statuses. */
export async function rootTasks(
  db: Db,
  wanted: { readonly ids: readonly string[]; readonly statuses: readonly TaskStatus[] },
): Promise<readonly TaskRow[]> {
  const { ids, statuses } = wanted;
  return await db
    .selectFrom('tasks')
    .selectAll()
    .where('parent_id', 'is', null)
    .where((eb) => (ids.length > 0 ? eb('id', 'in', [...ids]) : eb('status', 'in', [...statuses])))
    .execute();
}

export async function epicOrRefuse(db: Db, id: string): Promise<EpicRow> {
  const row = await epicById(db, id);
  if (row !== null) return row;
  throw new Refusal(
    'unknown_id',
    `Epic "${shown(id)}" does not exist in this project. Run "drover epic list" to list the ids.`,
  );
}

/** Refuses unless every id is a task, and names the first unknown one. */
export async function refuseUnknownTasks(db: Db, ids: readonly string[]): Promise<void> {
  const known = new Set<string>();
  for (const part of inParts(ids)) {
    const rows = await db.selectFrom('tasks').select('id').where('id', 'in', part).execute();
    for (const row of rows) known.add(row.id);
  }
  const missing = ids.find((id) => !known.has(id));
  if (missing !== undefined) throw unknownTask(missing);
}

export async function isIdTaken(db: Db, id: string): Promise<boolean> {
  const task = await db.selectFrom('tasks').select('id').where('id', '=', id).executeTakeFirst();
  if (task !== undefined) return true;
  const epic = await db.selectFrom('epics').select('id').where('id', '=', id).executeTakeFirst();
  return epic !== undefined;
}

/** A candidate never lands by itself, so a task that waits for it would wait forever. */
export async function refuseCandidates(db: Db, blockers: readonly string[]): Promise<void> {
  if (blockers.length === 0) return;
  const found = await db
    .selectFrom('tasks')
    .select(['id', 'candidate_of'])
    .where('id', 'in', [...blockers])
    .where('candidate_of', 'is not', null)
    .executeTakeFirst();
  if (found === undefined) return;
  throw new Refusal(
    'bad_value',
    `${found.id} is one of several candidates and never lands on its own. Wait for ${found.candidate_of ?? ''} instead.`,
  );
}
