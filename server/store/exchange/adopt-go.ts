// Converts a database of the public Go tool: moves its rows to our tables, inside the migration's
// transaction. A complete copy of the file was made before. Tables that we do not know stay
// unchanged.

import { type Kysely, type RawBuilder, sql } from 'kysely';
import { Refusal } from '../../core/failure.ts';
import { checkId } from '../../core/ids.ts';
import { settleAdopted } from './adopt-go-status.ts';
import { shown } from '../rows/field-checks.ts';

/** Our tables that such a file also has. */
const sharedTables = [
  'tasks',
  'epics',
  'task_dependencies',
  'worktrees',
  'events',
  'guidance_queue',
] as const;
type SharedTable = (typeof sharedTables)[number];

/** A table `tasks` with these columns is the Go tool's. */
const taskColumnsNeeded = ['id', 'title', 'status', 'created_at', 'updated_at'];

export type FileKind = 'new' | 'go';

/**
 * Identifies a file of schema version 0. Refuses a file of another program, or one with ids that
 * cannot be used here.
 */
export async function kindOfUnversioned<T>(db: Kysely<T>): Promise<FileKind> {
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`.execute(db);
  if (rows.length === 0) return 'new';
  const columns = await columnsOf(db, 'tasks');
  if (taskColumnsNeeded.every((name) => columns.has(name))) {
    await refuseUnsafeIds(db);
    return 'go';
  }
  throw new Refusal(
    'database',
    `The database ${await fileOf(db)} has tables of another program (${rows
      .slice(0, 3)
      .map(({ name }) => shown(name))
      .join(', ')}); nothing was changed. Name another file with DROVER_DATABASE_URL.`,
  );
}

async function fileOf<T>(db: Kysely<T>): Promise<string> {
  const { rows } = await sql<{ file: string }>`
    select file from pragma_database_list where name = 'main'`.execute(db);
  return rows[0]?.file ?? '';
}

/** Moves the rows. Calls `createTables` once the names of our tables are free. */
export async function adoptGoDatabase<T>(
  db: Kysely<T>,
  createTables: () => Promise<void>,
): Promise<void> {
  const present: { readonly table: SharedTable; readonly columns: ReadonlySet<string> }[] = [];
  for (const table of sharedTables) {
    const columns = await columnsOf(db, table);
    if (columns.size === 0) continue;
    await sql`create temp table ${old(table)} as select * from main.${sql.table(table)}`.execute(
      db,
    );
    await sql`drop table main.${sql.table(table)}`.execute(db);
    present.push({ table, columns });
  }
  await createTables();
  for (const { table, columns } of present) await copyRows(db, table, columns);
  await dropDanglingReferences(db);
  await settleAdopted(db);
  for (const { table } of present) await sql`drop table ${old(table)}`.execute(db);
}

function old(table: SharedTable): RawBuilder<unknown> {
  return sql`temp.${sql.ref(`go_${table}`)}`;
}

async function columnsOf<T>(db: Kysely<T>, table: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    select name from pragma_table_info(${table})`.execute(db);
  return new Set(rows.map((row) => row.name));
}

/** Refuses ids that are unsafe in branch names and folders. */
async function refuseUnsafeIds<T>(db: Kysely<T>): Promise<void> {
  const { rows } = await sql<{ id: string | null }>`select id from tasks`.execute(db);
  for (const { id } of rows) {
    const checked = checkId(String(id ?? ''));
    if (checked.ok) continue;
    throw new Refusal(
      'database',
      `The task id "${shown(String(id ?? ''))}" in the database ${checked.reason}; nothing was changed. Give the task another id there first.`,
    );
  }
}

/**
 * Defines how each of our columns is computed. Columns that the file does not have get our
 * defaults.
 */
const texts = (name: string): string => `nullif(${name}, '')`;
const words = (name: string, otherwise: string): string =>
  `coalesce(nullif(${name}, ''), '${otherwise}')`;
const numbers = (name: string, otherwise: number): string =>
  `cast(coalesce(${name}, ${otherwise}) as integer)`;

const expressions: {
  readonly [K in SharedTable]: {
    readonly columns: Readonly<Record<string, string>>;
    readonly order: string;
  };
} = {
  epics: {
    columns: {
      id: 'id',
      title: words('title', '(no title)'),
      description: texts('description'),
      status: "iif(status = 'closed', 'closed', 'open')",
      created_at: numbers('created_at', 0),
    },
    order: 'created_at, rowid',
  },
  tasks: {
    columns: {
      id: 'id',
      title: words('title', '(no title)'),
      description: texts('description'),
      epic_id: texts('epic_id'),
      parent_id: texts('parent_id'),
      sequence_number: numbers('sequence_number', 0),
      type: words('type', 'other'),
      priority: numbers('priority', 0),
      status: words('status', 'ready'),
      attempts: numbers('attempts', 0),
      max_attempts: `min(max(${numbers('max_attempts', 3)}, 1), 10)`,
      last_error: texts('last_error'),
      operator: texts('operator'),
      verdict: words('verdict', 'unknown'),
      verdict_reason: texts('verdict_reason'),
      test_mode: words('test_mode', 'strict'),
      test_scope: words('test_scope', 'diff'),
      test_command: texts('test_command'),
      created_at: numbers('created_at', 0),
      updated_at: numbers('updated_at', 0),
    },
    order: 'created_at, rowid',
  },
  task_dependencies: {
    columns: { task_id: 'task_id', blocked_by: 'blocked_by' },
    order: 'rowid',
  },
  worktrees: {
    columns: {
      task_id: 'task_id',
      path: words('path', ''),
      branch: words('branch', ''),
      created_at: numbers('created_at', 0),
      last_used_at: numbers('last_used_at', 0),
      status: words('status', 'active'),
      disk_size: numbers('disk_size', 0),
    },
    order: 'rowid',
  },
  events: {
    columns: {
      id: words('id', ''),
      type: words('type', 'unknown'),
      timestamp: numbers('timestamp', 0),
      task_id: texts('task_id'),
      epic_id: texts('epic_id'),
      data: "iif(json_valid(data), data, json_object('text', data))",
    },
    order: 'timestamp, rowid',
  },
  guidance_queue: {
    columns: {
      id: 'id',
      task_id: 'task_id',
      message: words('message', ''),
      created_at: numbers('created_at', 0),
      delivered: numbers('delivered', 0),
    },
    order: 'rowid',
  },
};

async function copyRows<T>(
  db: Kysely<T>,
  table: SharedTable,
  has: ReadonlySet<string>,
): Promise<void> {
  const { columns, order } = expressions[table];
  const copied = Object.entries(columns).filter(([name]) => has.has(name));
  const names = copied.map(([name]) => name);
  const values = copied.map(([, expression]) => expression);
  const position = table === 'tasks' || table === 'epics';
  if (position) {
    names.push('position');
    values.push(`row_number() over (order by ${order})`);
  }
  if (table === 'events') {
    names.push('at_ms');
    values.push(`${numbers('timestamp', 0)} * 1000`);
  }
  // `or ignore`, because the file may contain a pair or an id twice if the column had no key.
  await sql`
    insert or ignore into main.${sql.table(table)} (${sql.raw(names.join(', '))})
    select ${sql.raw(values.join(', '))} from ${old(table)} order by ${sql.raw(order)}`.execute(db);
}

/**
 * Removes dangling references, because the Go tool does not enforce references on every connection.
 */
async function dropDanglingReferences<T>(db: Kysely<T>): Promise<void> {
  for (const statement of [
    'update tasks set epic_id = null where epic_id not in (select id from epics)',
    'update tasks set parent_id = null where parent_id not in (select id from tasks)',
    `delete from task_dependencies where task_id not in (select id from tasks)
       or blocked_by not in (select id from tasks)`,
    'delete from worktrees where task_id not in (select id from tasks)',
    'delete from guidance_queue where task_id not in (select id from tasks)',
  ]) {
    await sql.raw(statement).execute(db);
  }
  // Deletes rows of tables that only the Go tool has, as cascading deletes would have done.
  const roundsMax = 5;
  for (let round = 0; round < roundsMax; round += 1) {
    const { rows } = await sql<{ table: string; rowid: number | null }>`
      select "table", rowid from pragma_foreign_key_check`.execute(db);
    if (rows.length === 0) return;
    for (const { table, rowid } of rows) {
      if (rowid === null) continue;
      await sql`delete from ${sql.table(table)} where rowid = ${rowid}`.execute(db);
    }
  }
}
