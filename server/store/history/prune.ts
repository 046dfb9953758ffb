// Removes old history of closed epics, and of finished tasks without an epic, in small
// transactions. History that an unfinished task links to is preserved. The metrics' counts of
// removed events are kept as numbers.

import { type ExpressionBuilder, type Expression, sql, type SqlBool } from 'kysely';
import { storyCounters } from '../../core/history/metrics.ts';
import { textsIn } from '../../core/history/feed-event.ts';
import { StoryTeller } from '../../core/history/stories.ts';
import { sumWaits } from '../../core/history/waits.ts';
import { buildWindows, type Window } from '../../core/history/windows.ts';
import { eventView } from '../feed/feed.ts';
import type { Store } from '../port.ts';
import type { Db } from '../rows/one-moment.ts';
import type { EventRow, StoreTables, Tx } from '../schema/tables.ts';

export interface Removed {
  count: number;
  /** Bytes of the removed texts, without the database's overhead. */
  bytes: number;
}

/** The tables of a store, which code outside of the store must not query. */
export function tablesOf({ db }: Pick<Store, 'db'>): Db {
  return db;
}

export interface PruneRun {
  readonly store: Store;
  readonly isDry: boolean;
  /** Yields to other work between two transactions. Returns false to stop. */
  readonly yieldTurn: () => Promise<boolean>;
}

/**
 * Limits per transaction: tasks whose events are removed, events unless one task has more, and
 * other rows.
 */
const tasksAtOnce = 10;
const eventsAtOnce = 250;
export const rowsAtOnce = 250;

/** Final statuses. A failed task may still be retried while its epic is open. */
const over = sql`('completed', 'cancelled', 'failed')`;
const finished = sql`('completed', 'cancelled')`;

/**
 * True of tasks in closed epics and of finished tasks without an epic, unless unfinished work links
 * to them.
 */
function isPast(eb: ExpressionBuilder<StoreTables, 'tasks'>): Expression<SqlBool> {
  const isClosed = sql<SqlBool>`(
    (tasks.epic_id is not null and tasks.status in ${over}
      and exists (select 1 from epics where epics.id = tasks.epic_id and epics.status = 'closed'))
    or (tasks.epic_id is null and tasks.status in ${finished}))`;
  const isLinked = sql<SqlBool>`(
    exists (select 1 from task_dependencies as link join tasks as other on other.id = link.task_id
      where link.blocked_by = tasks.id and other.status not in ${finished})
    or exists (select 1 from tasks as other
      where other.parent_id = tasks.id and other.status not in ${finished})
    or exists (select 1 from tasks as other
      where other.id = tasks.parent_id and other.status not in ${finished})
    or exists (select 1 from tasks as other
      where other.candidate_of = tasks.id and other.status not in ${finished}))`;
  return eb.and([isClosed, eb.not(isLinked)]);
}

/** Returns the tasks whose history may be removed. */
export async function pastTasks(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('tasks')
    .select('id')
    .where('id', 'in', [...ids])
    .where(isPast)
    .execute();
  return new Set(rows.map((row) => row.id));
}

export async function closedEpics(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('epics')
    .select('id')
    .where('id', 'in', [...ids])
    .where('status', '=', 'closed')
    .execute();
  return new Set(rows.map((row) => row.id));
}

/** Returns the tasks that changed, or whose last attempt ended, at the time or later. */
export async function recentlyChanged(
  db: Db,
  ids: readonly string[],
  sinceMs: number,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const changed = await db
    .selectFrom('tasks')
    .select('id')
    .where('id', 'in', [...ids])
    .where('updated_at', '>=', Math.floor(sinceMs / 1_000))
    .execute();
  const tried = await db
    .selectFrom('attempts')
    .select('task_id as id')
    .distinct()
    .where('task_id', 'in', [...ids])
    .where((eb) => eb.or([eb('ended_at_ms', 'is', null), eb('ended_at_ms', '>=', sinceMs)]))
    .execute();
  return new Set([...changed, ...tried].map((row) => row.id));
}

/**
 * Removes events of past tasks whose latest event is older than the time, then events of tasks that
 * no longer exist.
 */
export async function pruneEvents(run: PruneRun, beforeMs: number): Promise<Removed> {
  const removed: Removed = { count: 0, bytes: 0 };
  // The latest event stays, or feed numbers would appear to decrease.
  const lastSeq = await run.store.feed.lastSeq();
  const windows = buildWindows((await readRuns(run.store.db)).values(), beforeMs);
  const bounds = { beforeMs, lastSeq, windows };
  const gone = new Set<string>();
  for await (const ids of toldTasks(run)) {
    const past = [...(await pastTasks(run.store.db, ids))];
    for (const [at, part] of (await partsByEvents(run.store.db, past)).entries()) {
      if (at > 0 && !(await run.yieldTurn())) return removed;
      for (const id of await removeTaskEvents(run, part, bounds, removed)) gone.add(id);
    }
  }
  const oldestMs = await oldestTaskEvent(run, gone, beforeMs);
  let seq = 0;
  while (await run.yieldTurn()) {
    const rows = await tablesOf(run.store)
      .selectFrom('events')
      .selectAll()
      .where('seq', '>', seq)
      .where('seq', '<', lastSeq)
      .where('task_id', 'is', null)
      .where('at_ms', '<', beforeMs)
      .orderBy('seq')
      .limit(rowsAtOnce)
      .execute();
    seq = rows.at(-1)?.seq ?? seq;
    await removeOtherEvents(run, rows, oldestMs, removed);
    if (rows.length < rowsAtOnce) break;
  }
  return removed;
}

/**
 * Yields tasks that have events, a few at a time. Scans only the ids: with a query for "the next
 * past tasks", SQLite would scan all finished tasks for each page.
 */
async function* toldTasks({ store, yieldTurn }: PruneRun): AsyncIterable<readonly string[]> {
  let after = '';
  while (await yieldTurn()) {
    const rows = await tablesOf(store)
      .selectFrom('tasks')
      .select('id')
      .select(
        sql`exists (select 1 from events where events.task_id = tasks.id)`
          .$castTo<number | boolean>()
          .as('told'),
      )
      .where('id', '>', after)
      .orderBy('id')
      .limit(rowsAtOnce)
      .execute();
    after = rows.at(-1)?.id ?? after;
    const told = rows.filter((row) => Boolean(row.told)).map((row) => row.id);
    for (let at = 0; at < told.length; at += tasksAtOnce) {
      if (at > 0 && !(await yieldTurn())) return;
      yield told.slice(at, at + tasksAtOnce);
    }
    if (rows.length < rowsAtOnce) return;
  }
}

/** Splits the tasks into parts with few enough events for one transaction. */
async function partsByEvents(db: Db, ids: readonly string[]): Promise<readonly string[][]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('events')
    .select((eb) => ['task_id', eb.fn.countAll<number>().as('count')])
    .where('task_id', 'in', [...ids])
    .groupBy('task_id')
    .execute();
  const parts: string[][] = [];
  let left = 0;
  for (const { task_id: id, count } of rows) {
    const size = Number(count);
    const last = parts.at(-1);
    if (last !== undefined && size <= left) last.push(id ?? '');
    else {
      parts.push([id ?? '']);
      left = eventsAtOnce;
    }
    left -= size;
  }
  return parts;
}

async function readRuns(db: Db): Promise<StoryTeller['runs']> {
  const teller = new StoryTeller();
  const rows = await db
    .selectFrom('events')
    .selectAll()
    .where('type', 'in', ['run.started', 'run.resumed', 'run.stopped', 'run.finished'])
    .orderBy('seq')
    .execute();
  for (const row of rows) teller.take(eventView(row));
  return teller.runs;
}

interface Bounds {
  readonly beforeMs: number;
  readonly lastSeq: number;
  readonly windows: readonly Window[];
}

/** Removes all events of a task at once, so that it is counted once. Resolves with the tasks. */
async function removeTaskEvents(
  { store, isDry }: PruneRun,
  ids: readonly string[],
  { beforeMs, lastSeq, windows }: Bounds,
  removed: Removed,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const work = async (db: Db, tx: Tx | null): Promise<ReadonlySet<string>> => {
    // A closed epic may have been reopened since the tasks were found.
    const still = [...(await pastTasks(db, ids))];
    if (still.length === 0) return new Set();
    const rows = await db
      .selectFrom('events')
      .selectAll()
      .where('task_id', 'in', still)
      .orderBy('seq')
      .execute();
    const isRecent = (row: EventRow): boolean => row.at_ms >= beforeMs || row.seq === lastSeq;
    const recent = new Set(rows.filter(isRecent).map((row) => row.task_id));
    const old = rows.filter((row) => !recent.has(row.task_id));
    note(removed, old);
    if (tx !== null) {
      const teller = new StoryTeller();
      for (const row of await removeEvents(tx, old)) teller.take(eventView(row));
      await carry(tx, storyCounters(teller, sumWaits(teller, windows)));
    }
    return new Set(old.map((row) => row.task_id ?? ''));
  };
  return isDry ? work(store.db, null) : store.transaction((tx) => work(tx, tx));
}

/** The time of the oldest remaining event of a task. Runs that ended before it are omitted. */
async function oldestTaskEvent(
  { store, yieldTurn }: PruneRun,
  gone: ReadonlySet<string>,
  beforeMs: number,
): Promise<number> {
  let seq = 0;
  while (await yieldTurn()) {
    const rows = await tablesOf(store)
      .selectFrom('events')
      .select(['seq', 'task_id', 'at_ms'])
      .where('seq', '>', seq)
      .where('task_id', 'is not', null)
      .orderBy('seq')
      .limit(rowsAtOnce)
      .execute();
    const kept = rows.find((row) => !gone.has(row.task_id ?? ''));
    if (kept !== undefined) return kept.at_ms;
    if (rows.length < rowsAtOnce) break;
    seq = rows.at(-1)?.seq ?? seq;
  }
  return beforeMs;
}

async function removeOtherEvents(
  { store, isDry }: PruneRun,
  rows: readonly EventRow[],
  oldestMs: number,
  removed: Removed,
): Promise<void> {
  if (rows.length === 0) return;
  const views = rows.map((row) => ({ row, view: eventView(row) }));
  const work = async (db: Db, tx: Tx | null): Promise<void> => {
    const tasks = await pastTasks(db, [
      ...new Set(views.flatMap(({ view }) => textsIn(view, 'task_ids'))),
    ]);
    const epics = await closedEpics(db, [
      ...new Set(rows.flatMap((row) => (row.epic_id === null ? [] : [row.epic_id]))),
    ]);
    const runs = await overRuns(db, [
      ...new Set(rows.flatMap((row) => (row.run_id === null ? [] : [row.run_id]))),
    ]);
    const old = views.filter(({ row, view }) => {
      if (row.epic_id !== null && !epics.has(row.epic_id)) return false;
      if (row.run_id !== null && (runs.get(row.run_id) ?? Infinity) >= oldestMs) return false;
      return textsIn(view, 'task_ids').every((id) => tasks.has(id));
    });
    const events = old.map(({ row }) => row);
    note(removed, events);
    if (tx === null) return;
    const gone = await removeEvents(tx, events);
    const teller = new StoryTeller();
    for (const row of gone) if (row.type.startsWith('gate.')) teller.take(eventView(row));
    await carry(tx, storyCounters(teller, {}));
  };
  if (isDry) await work(store.db, null);
  else await store.transaction((tx) => work(tx, tx));
}

/** When these runs ended. Omits runs that can continue. */
async function overRuns(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('runs')
    .select(['id', 'ended_at_ms'])
    .where('id', 'in', [...ids])
    .where('state', '=', 'finished')
    .execute();
  return new Map(
    rows.flatMap((row) => (row.ended_at_ms === null ? [] : [[row.id, row.ended_at_ms]])),
  );
}

function note(removed: Removed, rows: readonly EventRow[]): void {
  removed.count += rows.length;
  for (const row of rows) removed.bytes += row.data.length + row.type.length + row.id.length;
}

async function carry(tx: Tx, counted: ReadonlyMap<string, number>): Promise<void> {
  for (const [series, value] of counted) {
    await tx
      .insertInto('metrics_carried')
      .values({ series, value })
      .onConflict((conflict) =>
        conflict
          .column('series')
          .doUpdateSet((eb) => ({ value: eb('metrics_carried.value', '+', value) })),
      )
      .execute();
  }
}

/**
 * Resolves with the rows that this call removed, because another machine may be removing the same
 * ones.
 */
async function removeEvents(tx: Tx, rows: readonly EventRow[]): Promise<readonly EventRow[]> {
  const gone: EventRow[] = [];
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const part = rows.slice(at, at + rowsAtOnce).map((row) => row.seq);
    gone.push(...(await tx.deleteFrom('events').where('seq', 'in', part).returningAll().execute()));
  }
  const last = gone.reduce((most, row) => Math.max(most, row.seq), 0);
  await tx.updateTable('pruned_events').set({ seq: last }).where('seq', '<', last).execute();
  return gone.toSorted((a, b) => a.seq - b.seq);
}

/**
 * The last event that was removed. A client at an earlier position cannot get the events that it
 * missed.
 */
export async function lastPruned(db: Db): Promise<number> {
  const row = await db.selectFrom('pruned_events').select('seq').executeTakeFirst();
  return row?.seq ?? 0;
}
