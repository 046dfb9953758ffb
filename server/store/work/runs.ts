// Runs: how one starts, stops, resumes and ends, and which one is the latest.

import { sql } from 'kysely';
import type { Reads, RunRow, Tx } from '../schema/tables.ts';

export async function runById(db: Reads, id: string): Promise<RunRow | null> {
  const row = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

/** For runs that must exist, because runs with attempts are never deleted. */
export async function existingRun(db: Reads, id: string): Promise<RunRow> {
  const row = await runById(db, id);
  if (row === null) throw new Error(`run ${id} is missing`);
  return row;
}

/** Oldest first. */
export async function activeRunsIn(db: Reads): Promise<RunRow[]> {
  return db
    .selectFrom('runs')
    .selectAll()
    .where('state', '=', 'active')
    .orderBy('started_at_ms')
    .execute();
}

/** The run that was started last: of all runs, of an epic, or for a target branch. */
export async function newestRun(
  db: Reads,
  of: { readonly epicId?: string; readonly target?: string } = {},
): Promise<RunRow | null> {
  const { epicId, target } = of;
  let query = db.selectFrom('runs').selectAll();
  if (epicId !== undefined) query = query.where('epic_id', '=', epicId);
  if (target !== undefined) query = query.where('target_branch', '=', target);
  const row = await query
    .orderBy('started_at_ms', 'desc')
    .orderBy(sql`rowid`, 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** The id of the run that finished last. */
export async function lastFinishedRun(db: Reads): Promise<string | null> {
  const row = await db
    .selectFrom('runs')
    .select('id')
    .where('state', '=', 'finished')
    .orderBy('ended_at_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/**
 * The flags of a run and, while it is active, its settings. After its end, the settings that a
 * person has accepted since apply. If the run no longer exists, the flags of no run.
 */
export async function flagsOfRun(
  db: Reads,
  runId: string | null,
): Promise<Pick<RunRow, 'flags' | 'settings'>> {
  const run = await runById(db, runId ?? '');
  if (run === null) return { flags: '{}', settings: null };
  const { flags, state, settings } = run;
  return { flags, settings: state === 'active' ? settings : null };
}

export async function insertRun(tx: Tx, row: RunRow): Promise<void> {
  await tx.insertInto('runs').values(row).execute();
}

/** Makes a stopped run active again with these settings. */
export async function reactivateRun(tx: Tx, id: string, settings: string): Promise<void> {
  await tx
    .updateTable('runs')
    .set({ state: 'active', ended_at_ms: null, settings })
    .where('id', '=', id)
    .execute();
}

export async function endRun(
  tx: Tx,
  id: string,
  end: { readonly state: 'finished' | 'stopped'; readonly atMs: number },
): Promise<void> {
  await tx
    .updateTable('runs')
    .set({ state: end.state, ended_at_ms: end.atMs })
    .where('id', '=', id)
    .execute();
}

/** Stops a run unless it has ended. Returns its row, or null if it was not active. */
export async function stopActiveRun(tx: Tx, id: string, atMs: number): Promise<RunRow | null> {
  const row = await tx
    .updateTable('runs')
    .set({ state: 'stopped', ended_at_ms: atMs })
    .where('id', '=', id)
    .where('state', '=', 'active')
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/** Records the branch with the work of a run. */
export async function setResultBranch(tx: Tx, id: string, branch: string): Promise<void> {
  await tx.updateTable('runs').set({ result_branch: branch }).where('id', '=', id).execute();
}

/**
 * The flag that stores the tasks that a run was started for, if it does not cover its whole epic or
 * project. `resume` uses the same.
 */
const tasksFlag = 'tasks';

/** Null if the run covers all tasks of its epic or project. */
export function tasksOfRun({ flags }: Pick<RunRow, 'flags'>): readonly string[] | null {
  const named = flagsOf(flags)[tasksFlag];
  return Array.isArray(named) ? named.filter((id) => typeof id === 'string') : null;
}

/** The run as if it covered its whole epic or project. Unchanged if it does. */
export function wholeRun(row: RunRow): RunRow {
  return tasksOfRun(row) === null
    ? row
    : { ...row, flags: flagsWithTasks(flagsOf(row.flags), null) };
}

/** The flags with these tasks. Null removes the tasks. */
export function flagsWithTasks(
  flags: Readonly<Record<string, unknown>>,
  tasks: readonly string[] | null,
): string {
  const { [tasksFlag]: _before, ...others } = flags;
  return JSON.stringify(tasks === null ? others : { ...others, [tasksFlag]: tasks });
}

/**
 * Adds tasks to the scope of a run; null adds its whole epic. Returns null if the run is no longer
 * active.
 */
export async function widenRun(
  tx: Tx,
  id: string,
  tasks: readonly string[] | null,
): Promise<RunRow | null> {
  const row = await tx
    .selectFrom('runs')
    .selectAll()
    .where('id', '=', id)
    .where('state', '=', 'active')
    .executeTakeFirst();
  if (row === undefined) return null;
  const own = tasksOfRun(row);
  const all = own === null || tasks === null ? null : [...new Set([...own, ...tasks])];
  const flags = flagsWithTasks(flagsOf(row.flags), all);
  await tx.updateTable('runs').set({ flags }).where('id', '=', id).execute();
  return { ...row, flags };
}

function flagsOf(json: string): Readonly<Record<string, unknown>> {
  return JSON.parse(json) as Readonly<Record<string, unknown>>;
}
