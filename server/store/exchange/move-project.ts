// Copies a whole project into a database of either kind and verifies the copy. The target must be
// empty or moved away from.
//
// All or nothing: the target gets everything in one transaction, which is only committed if each
// table has as many rows and the same hash as its source. The source cannot change during the copy,
// and is marked as moved away afterwards.

import { type Kysely, sql } from 'kysely';
import { Refusal } from '../../core/failure.ts';
import { isPostgres } from '../schema/dialect.ts';
import { chunksOf, movedTables, type MovedTable, type Row, tableHash } from './move-tables.ts';
import type { StoreTables, Tx } from '../schema/tables.ts';
import { readMovedTo } from './moved-away.ts';
import { activeRunsIn } from '../work/runs.ts';

export interface MovedTableReport {
  readonly table: MovedTable;
  readonly rows: number;
  /** SHA-256 over all rows in key order. */
  readonly hash: string;
}

export interface MoveReport {
  readonly tables: readonly MovedTableReport[];
  readonly rows: number;
}

/**
 * No other process may write to either database. `mark` marks the source after the target is
 * committed.
 */
export async function moveStore(
  from: Kysely<StoreTables>,
  to: Kysely<StoreTables>,
  mark: (source: Tx) => Promise<void>,
): Promise<MoveReport> {
  return from.transaction().execute(async (source) => {
    await refuseWorking(source);
    const report = await to.transaction().execute(async (target) => {
      // The content of a database that was moved away from exists elsewhere, so it may be replaced.
      if ((await readMovedTo(target)) === null) await refuseFilled(target);
      else await empty(target);
      for (const { table } of movedTables) await copyTable(source, target, table);
      await raiseCounters(target);
      await forgetPast(target);
      return compare(source, target);
    });
    await mark(source);
    return report;
  });
}

async function empty(target: Tx): Promise<void> {
  await target.updateTable('tasks').set({ parent_id: null }).execute();
  for (const { table } of movedTables.toReversed()) await target.deleteFrom(table).execute();
}

/** Workflows are not moved, so running work would have no owner afterwards. */
async function refuseWorking(source: Tx): Promise<void> {
  const [run] = await activeRunsIn(source);
  const task = await source
    .selectFrom('tasks')
    .select('id')
    .where('status', 'in', ['claimed', 'in_progress'])
    .executeTakeFirst();
  const landing = await source
    .selectFrom('landings')
    .select('task_id')
    .where('state', 'in', ['queued', 'taken'])
    .executeTakeFirst();
  if (run === undefined && task === undefined && landing === undefined) return;
  const what =
    run !== undefined
      ? `run ${run.id} has not ended`
      : task !== undefined
        ? `task ${task.id} is running`
        : `the work of task ${landing?.task_id ?? ''} waits to land`;
  throw new Refusal(
    'bad_state',
    `The project cannot be moved while it is running: ${what}; nothing was changed. Wait until it has finished, or stop it, then try again: with Ctrl-C in "drover run", or, without a fleet, with "drover server stop --force" (it releases tasks first).`,
  );
}

async function refuseFilled(target: Tx): Promise<void> {
  for (const { table } of movedTables) {
    const row = await target
      .selectFrom(table)
      .select(sql`1`.as('one'))
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) continue;
    throw new Refusal(
      'bad_state',
      `The database to move to holds ${table} already; nothing was changed. Name an empty one.`,
    );
  }
}

async function copyTable(source: Tx, target: Tx, table: MovedTable): Promise<void> {
  const parents = new Map<string, string>();
  for await (const rows of chunksOf(source, table)) {
    const ready = table === 'tasks' ? rows.map((row) => withoutParent(row, parents)) : rows;
    // The rows were read from the same table with the same columns.
    await target
      .insertInto(table)
      .values(ready as never)
      .execute();
  }
  for (const [id, parent] of parents) {
    await target.updateTable('tasks').set({ parent_id: parent }).where('id', '=', id).execute();
  }
}

/** A parent may come after its child, so parents are set after all rows exist. */
function withoutParent(row: Row, parents: Map<string, string>): Row {
  const { id, parent_id: parent } = row;
  if (typeof id !== 'string' || typeof parent !== 'string') return row;
  parents.set(id, parent);
  return { ...row, parent_id: null };
}

/**
 * The copied events did not happen in this database, so the history of the moved project starts
 * now.
 */
async function forgetPast(target: Tx): Promise<void> {
  await target.deleteFrom('past').execute();
  await target.deleteFrom('past_events').execute();
  await target
    .updateTable('past_start')
    .set((eb) => ({
      seq: eb
        .selectFrom('events')
        .select((events) => sql<number>`coalesce(${events.fn.max('seq')}, 0)`.as('seq')),
    }))
    .execute();
}

/** SQLite continues after the largest number by itself; PostgreSQL does not. */
async function raiseCounters(target: Tx): Promise<void> {
  if (!isPostgres(target)) return;
  for (const [table, column] of [
    ['events', 'seq'],
    ['tasks', 'rowid'],
    ['runs', 'rowid'],
    ['landings', 'position'],
  ] as const) {
    await sql`
      select setval(pg_get_serial_sequence(${sql.lit(table)}, ${sql.lit(column)}), max(${sql.ref(column)}))
      from ${sql.table(table)} having max(${sql.ref(column)}) is not null`.execute(target);
  }
}

async function compare(source: Tx, target: Tx): Promise<MoveReport> {
  const tables: MovedTableReport[] = [];
  for (const { table } of movedTables) {
    const expected = await tableHash(source, table);
    const found = await tableHash(target, table);
    if (found.rows !== expected.rows || found.hash !== expected.hash) {
      throw new Refusal(
        'database',
        `The moved ${table} are not the same (${expected.rows} rows became ${found.rows}); nothing was changed. Please report this.`,
      );
    }
    tables.push({ table, ...found });
  }
  return { tables, rows: tables.reduce((sum, { rows }) => sum + rows, 0) };
}
