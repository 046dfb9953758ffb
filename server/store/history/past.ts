// Rebuilds the state at an earlier event as a store in memory, so that `status` and `why` read it
// with the same code as the present.

import { openSqlite } from '../sqlite/open.ts';
import { Refusal } from '../../core/failure.ts';
import { numberedTables, type PastKept, pastTables } from '../schema/past-tables.ts';
import { type Db, readAtOneMoment } from '../rows/one-moment.ts';
import { storeSteps } from '../schema/schema.ts';
import type { StoreTables } from '../schema/tables.ts';
import { sql } from 'kysely';

/** After an event, at a time (Unix milliseconds), or after one recorded change. */
export type PastMoment =
  | { readonly seq: number }
  | { readonly atMs: number }
  | { readonly change: number };

export interface Past {
  readonly db: Db;
  /** The last event before the moment. */
  readonly seq: number;
  /** The requested time, or that of the event. Unix milliseconds. */
  readonly atMs: number;
  readonly close: () => Promise<void>;
}

type Row = Record<string, unknown>;
type Rows = Map<string, Row>;

/** Refuses a moment that is in the future or older than the kept history. */
export async function openPast(db: Db, moment: PastMoment): Promise<Past> {
  const found = await readAtOneMoment(db, async (at) => {
    const place = await placeOf(at, moment);
    return { ...place, tables: await rowsAt(at, place.n) };
  });
  const memory = openSqlite<StoreTables>(':memory:');
  try {
    await fill(memory, found);
  } catch (error) {
    await memory.close();
    throw error;
  }
  return { db: memory.db, seq: found.seq, atMs: found.atMs, close: () => memory.close() };
}

interface Place {
  readonly seq: number;
  readonly atMs: number;
  /** The last change before the moment. Null if all changes are. */
  readonly n: number | null;
}

async function placeOf(db: Db, moment: PastMoment): Promise<Place> {
  if ('change' in moment) return placeAfter(db, moment.change);
  const seq = 'seq' in moment ? moment.seq : await lastSeqUntil(db, moment.atMs);
  const start = await db.selectFrom('past_start').select('seq').executeTakeFirst();
  const last = await db
    .selectFrom('events')
    .select(['seq', 'at_ms'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (seq > (last?.seq ?? 0)) {
    throw new Refusal(
      'bad_value',
      `Event ${seq} has not happened yet: the last event is ${last?.seq ?? 0}.`,
    );
  }
  if (start === undefined || seq < start.seq) {
    throw new Refusal(
      'bad_value',
      `Drover keeps the history of this project from event ${start?.seq ?? 0} on. Name that event or a later one.`,
    );
  }
  const atMs = 'atMs' in moment ? moment.atMs : await timeOf(db, seq);
  return { seq, atMs, n: await changesUntil(db, seq) };
}

async function placeAfter(db: Db, n: number): Promise<Place> {
  const row = await db
    .selectFrom('past_events')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('n', '<=', n)
    .executeTakeFirst();
  const seq = row?.seq ?? 0;
  return { seq, atMs: await timeOf(db, seq), n };
}

async function lastSeqUntil(db: Db, atMs: number): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('at_ms', '<=', atMs)
    .executeTakeFirst();
  return row?.seq ?? 0;
}

async function timeOf(db: Db, seq: number): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select('at_ms')
    .where('seq', '>=', seq)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return row?.at_ms ?? 0;
}

const pageSize = 1_000;

/**
 * The last change of the transactions before the one that wrote the next event; null if there are
 * none.
 */
async function changesUntil(db: Db, seq: number): Promise<number | null> {
  const next = await db
    .selectFrom('past_events')
    .select(['n', 'tx'])
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  if (next === undefined) return null;
  let { n } = next;
  for (;;) {
    const rows = await db
      .selectFrom('past')
      .select(['n', 'tx'])
      .where('n', '<=', n)
      .orderBy('n', 'desc')
      .limit(pageSize)
      .execute();
    for (const row of rows) {
      if (row.tx !== next.tx) return row.n;
      n = row.n - 1;
    }
    if (rows.length < pageSize) return n;
  }
}

async function rowsAt(db: Db, n: number | null): Promise<ReadonlyMap<string, Rows>> {
  const tables = new Map<string, Rows>();
  for (const kept of pastTables) tables.set(kept.table, await presentRows(db, kept));
  if (n !== null) await undoChanges(db, n, tables);
  return tables;
}

async function presentRows(db: Db, { table, key }: PastKept): Promise<Rows> {
  const rows = (await db
    .selectFrom(table)
    .selectAll()
    .$if(numberedTables.has(table), (query) => query.select(sql<number>`rowid`.as('rowid')))
    .execute()) as readonly Row[];
  return new Map(rows.map((row) => [JSON.stringify(key.map((name) => row[name])), row]));
}

/** Undoes changes from the latest back to the first one after the moment. */
async function undoChanges(db: Db, n: number, tables: ReadonlyMap<string, Rows>): Promise<void> {
  const changes = await db
    .selectFrom('past')
    .select(['op', 'tbl', 'key', 'old'])
    .where('n', '>', n)
    .orderBy('n', 'desc')
    .execute();
  for (const { op, tbl, key: stored, old } of changes) {
    const rows = tables.get(tbl);
    if (rows === undefined) continue;
    // The databases format JSON with different spaces and escapes than JavaScript.
    const key = rows.has(stored) ? stored : JSON.stringify(JSON.parse(stored));
    if (op === 'insert') rows.delete(key);
    else if (op === 'delete') rows.set(key, JSON.parse(old ?? '{}') as Row);
    else Object.assign(rows.get(key) ?? {}, JSON.parse(old ?? '{}'));
  }
}

async function fill(
  { db, raw }: ReturnType<typeof openSqlite<StoreTables>>,
  { seq, tables }: { readonly seq: number; readonly tables: ReadonlyMap<string, Rows> },
): Promise<void> {
  for (const step of storeSteps) await step.up(db as never);
  raw.exec('pragma foreign_keys = off');
  raw.exec('begin');
  raw
    .prepare(`insert into events (seq, id, type, timestamp, at_ms) values (?, '', '', 0, 0)`)
    .run(seq);
  for (const [table, rows] of tables) {
    const [first] = rows.values();
    if (first === undefined) continue;
    const columns = Object.keys(first);
    const statement = raw.prepare(
      `insert into ${table} (${columns.map((name) => `"${name}"`).join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    );
    for (const row of rows.values()) {
      statement.run(...columns.map((name) => (row[name] ?? null) as string | number | null));
    }
  }
  raw.exec('commit');
}
