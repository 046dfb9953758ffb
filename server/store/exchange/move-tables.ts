// Lists the tables of a project for a move, in an order that preserves references, and reads them
// in chunks by key.

import { createHash } from 'node:crypto';
import { sql, type SqlBool } from 'kysely';
import type { StoreTables, Tx } from '../schema/tables.ts';

export type MovedTable = keyof StoreTables;
export type Row = Readonly<Record<string, unknown>>;

interface TableOrder {
  readonly table: MovedTable;
  readonly key: readonly string[];
}

/** Referenced tables come first. */
export const movedTables: readonly TableOrder[] = [
  { table: 'epics', key: ['id'] },
  { table: 'tasks', key: ['id'] },
  { table: 'task_dependencies', key: ['task_id', 'blocked_by'] },
  { table: 'worktrees', key: ['task_id'] },
  { table: 'slots', key: ['machine', 'path'] },
  { table: 'attempts', key: ['task_id', 'number'] },
  { table: 'events', key: ['seq'] },
  { table: 'questions', key: ['id'] },
  { table: 'guidance_queue', key: ['id'] },
  { table: 'runs', key: ['id'] },
  { table: 'lines', key: ['branch'] },
  { table: 'line_tips', key: ['branch', 'sha'] },
  { table: 'arrivals', key: ['line', 'sha'] },
  { table: 'base_gates', key: ['line'] },
  { table: 'line_gates', key: ['line'] },
  { table: 'landings', key: ['position'] },
  { table: 'gate_verdicts', key: ['tree_sha', 'command'] },
  { table: 'accounts', key: ['name'] },
  { table: 'spending', key: ['task_id', 'attempt', 'part', 'day'] },
  { table: 'holds', key: ['scope'] },
  { table: 'task_plans', key: ['task_id', 'number'] },
  { table: 'machines', key: ['id'] },
  { table: 'line_landers', key: ['branch'] },
  { table: 'log_parts', key: ['file', 'start'] },
  { table: 'metrics_carried', key: ['series'] },
  { table: 'exporters', key: ['name'] },
  { table: 'webhook_cursors', key: ['endpoint'] },
  { table: 'webhook_deliveries', key: ['endpoint', 'seq'] },
  { table: 'forge_items', key: ['provider', 'host', 'native_id'] },
  { table: 'forge_facts', key: ['provider', 'host', 'native_id', 'fact'] },
  { table: 'forge_reactions', key: ['provider', 'host', 'native_id', 'key'] },
  { table: 'forge_outbox', key: ['key'] },
  { table: 'forge_issues', key: ['provider', 'host', 'native_id'] },
  { table: 'notes', key: ['id'] },
  { table: 'forecasts', key: ['task_id', 'other_id'] },
  { table: 'reviews', key: ['task_id', 'tree_sha'] },
];

/** Tables whose rows have a creation order, which is moved with them. */
const numbered: ReadonlySet<MovedTable> = new Set(['tasks', 'runs']);
/**
 * Columns that may contain fractions. In other columns, SQLite may contain a fraction that
 * PostgreSQL would refuse.
 */
const fractions: ReadonlySet<string> = new Set([
  'tasks.position',
  'epics.position',
  'metrics_carried.value',
  'cost_usd',
  'usd',
]);
/** With about forty columns, this stays far below both databases' limits for parameters. */
const chunkRows = 400;

/** All rows in key order. */
export async function* chunksOf(tx: Tx, table: MovedTable): AsyncGenerator<readonly Row[]> {
  const key = movedTables.find((order) => order.table === table)?.key ?? [];
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let last: readonly unknown[] | null = null;
  for (;;) {
    const after: readonly unknown[] | null = last;
    const rows = (await tx
      .selectFrom(table)
      .selectAll()
      .$if(numbered.has(table), (query) => query.select(sql<number>`rowid`.as('rowid')))
      .$if(after !== null, (query) =>
        query.where(sql<SqlBool>`(${columns}) > (${sql.join([...(after ?? [])])})`),
      )
      .orderBy(columns)
      .limit(chunkRows)
      .execute()) as readonly Row[];
    if (rows.length > 0) yield rows.map((row) => movable(table, row));
    const end = rows.at(-1);
    if (end === undefined || rows.length < chunkRows) return;
    last = key.map((column) => end[column]);
  }
}

/**
 * Converts a row to a form that both databases can store. PostgreSQL stores no zero characters, and
 * only integers in most columns.
 */
function movable(table: MovedTable, row: Row): Row {
  const moved: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    if (typeof value === 'string') moved[column] = value.replaceAll('\0', '\ufffd');
    else if (typeof value === 'number' && !mayBeFraction(table, column))
      moved[column] = Math.round(value);
    else moved[column] = value;
  }
  return moved;
}

function mayBeFraction(table: MovedTable, column: string): boolean {
  return fractions.has(column) || fractions.has(`${table}.${column}`);
}

export async function tableHash(
  tx: Tx,
  table: MovedTable,
): Promise<{ readonly rows: number; readonly hash: string }> {
  const hash = createHash('sha256');
  let rows = 0;
  for await (const chunk of chunksOf(tx, table)) {
    rows += chunk.length;
    for (const row of chunk) {
      const sorted = Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1));
      hash.update(`${JSON.stringify(sorted)}\n`);
    }
  }
  return { rows, hash: hash.digest('hex') };
}
