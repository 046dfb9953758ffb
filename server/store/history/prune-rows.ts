// Removes old rows that no task owns: recorded changes, gate results, webhook deliveries, and notes
// that no prompt uses.

import { sql, type SqlBool } from 'kysely';
import type { Store } from '../port.ts';
import type { Tx } from '../schema/tables.ts';
import { type PruneRun, type Removed, rowsAtOnce, tablesOf } from './prune.ts';

/** Rows read at once if only their numbers are needed. */
const walkedAtOnce = 2_000;
/** Maximum number of recorded changes that one transaction makes. */
const changesMax = 100_000;

const nothing: Removed = { count: 0, bytes: 0 };

/**
 * Removes changes before the first event that is recent enough, which is then the earliest moment
 * for `drover at`.
 */
export async function prunePast(run: PruneRun, beforeMs: number): Promise<Removed> {
  const { store, isDry } = run;
  const first = await firstKept(run, beforeMs);
  const start = await tablesOf(store).selectFrom('past_start').select('seq').executeTakeFirst();
  if (first === undefined || start === undefined || first.seq <= start.seq) return nothing;
  const older = await tablesOf(store)
    .selectFrom('past_events')
    .select('seq')
    .where('seq', '<', first.seq)
    .limit(1)
    .executeTakeFirst();
  // A project without old data keeps its start marker, so nothing is written.
  if (older === undefined) return nothing;
  const below = await firstChange(run, first);
  if (below === null) return nothing;
  if (!isDry) {
    await store.transaction(async (tx: Tx) => {
      await tx.updateTable('past_start').set({ seq: first.seq }).execute();
    });
  }
  const removed = await removeInParts<{ n: number; key: string; old: string | null }>(run, {
    read: (after) =>
      tablesOf(store)
        .selectFrom('past')
        .select(['n', 'key', 'old'])
        .where('n', '>', after?.n ?? 0)
        .where('n', '<', below)
        .orderBy('n')
        .limit(rowsAtOnce)
        .execute(),
    bytesOf: (row) => row.key.length + (row.old?.length ?? 0),
    remove: async (tx, rows) => {
      await tx
        .deleteFrom('past')
        .where('n', '<=', rows.at(-1)?.n ?? 0)
        .execute();
    },
  });
  if (!isDry) await removePastEvents(run, first.seq);
  return removed;
}

interface Kept {
  readonly seq: number;
  readonly n: number;
  readonly tx: number;
}

/**
 * The first event that is recent enough. No index contains the times of events, so they are
 * scanned.
 */
async function firstKept(
  { store, yieldTurn }: PruneRun,
  beforeMs: number,
): Promise<Kept | undefined> {
  let after = 0;
  while (await yieldTurn()) {
    const rows = await tablesOf(store)
      .selectFrom('past_events')
      .innerJoin('events', 'events.seq', 'past_events.seq')
      .select(['past_events.seq', 'past_events.n', 'past_events.tx', 'at_ms'])
      .where('past_events.seq', '>', after)
      .orderBy('past_events.seq')
      .limit(walkedAtOnce)
      .execute();
    const found = rows.find((row) => row.at_ms >= beforeMs);
    if (found !== undefined || rows.length < walkedAtOnce) return found;
    after = rows.at(-1)?.seq ?? after;
  }
  return undefined;
}

/**
 * Keeps all changes of the event's own transaction, because its `n` may be in the middle of them.
 * Returns null to stop here.
 */
async function firstChange({ store, yieldTurn }: PruneRun, event: Kept): Promise<number | null> {
  let below = event.n;
  for (let to = event.n; to > Math.max(0, event.n - changesMax); to -= walkedAtOnce) {
    if (!(await yieldTurn())) return null;
    const own = await tablesOf(store)
      .selectFrom('past')
      .select((eb) => eb.fn.min('n').as('n'))
      .where('tx', '=', event.tx)
      .where('n', '>', to - walkedAtOnce)
      .where('n', '<=', to)
      .executeTakeFirst();
    below = Math.min(below, own?.n ?? below);
  }
  return below;
}

async function removePastEvents(run: PruneRun, before: number): Promise<void> {
  await removeInParts<{ seq: number }>(run, {
    read: (after) =>
      tablesOf(run.store)
        .selectFrom('past_events')
        .select('seq')
        .where('seq', '>', after?.seq ?? 0)
        .where('seq', '<', before)
        .orderBy('seq')
        .limit(rowsAtOnce)
        .execute(),
    bytesOf: () => 0,
    remove: async (tx, rows) => {
      await tx
        .deleteFrom('past_events')
        .where('seq', '<=', rows.at(-1)?.seq ?? 0)
        .execute();
    },
  });
}

/** Gate results are a cache, so even those of unfinished tasks can be removed. */
export async function pruneVerdicts(run: PruneRun, beforeMs: number): Promise<Removed> {
  return removeInParts<{ tree_sha: string; command: string; at_ms: number; output_tail: string }>(
    run,
    {
      read: (after) =>
        tablesOf(run.store)
          .selectFrom('gate_verdicts')
          .select(['tree_sha', 'command', 'at_ms', 'output_tail'])
          .where('at_ms', '<', beforeMs)
          .where(
            sql<SqlBool>`(at_ms, tree_sha, command)
              > (${after?.at_ms ?? -1}, ${after?.tree_sha ?? ''}, ${after?.command ?? ''})`,
          )
          .orderBy('at_ms')
          .orderBy('tree_sha')
          .orderBy('command')
          .limit(rowsAtOnce)
          .execute(),
      bytesOf: (row) => row.output_tail.length + row.command.length,
      remove: async (tx, rows) => {
        for (const { tree_sha: tree, command } of rows) {
          await tx
            .deleteFrom('gate_verdicts')
            .where('tree_sha', '=', tree)
            .where('command', '=', command)
            .where('at_ms', '<', beforeMs)
            .execute();
        }
      },
    },
  );
}

/** Removes webhook deliveries that were sent or have failed. */
export async function pruneDeliveries(run: PruneRun, beforeMs: number): Promise<Removed> {
  return removeInParts<{ endpoint: string; seq: number; body: string }>(run, {
    read: (after) =>
      tablesOf(run.store)
        .selectFrom('webhook_deliveries')
        .select(['endpoint', 'seq', 'body'])
        .where('ended_at_ms', '<', beforeMs)
        .where(sql<SqlBool>`(endpoint, seq) > (${after?.endpoint ?? ''}, ${after?.seq ?? -1})`)
        .orderBy('endpoint')
        .orderBy('seq')
        .limit(rowsAtOnce)
        .execute(),
    bytesOf: (row) => row.body.length,
    remove: async (tx, rows) => {
      for (const { endpoint, seq } of rows) {
        await tx
          .deleteFrom('webhook_deliveries')
          .where('endpoint', '=', endpoint)
          .where('seq', '=', seq)
          .where('ended_at_ms', '<', beforeMs)
          .execute();
      }
    },
  });
}

/** Removes notes that no prompt has used since then. */
export async function pruneNotes(run: PruneRun, beforeMs: number): Promise<Removed> {
  return removeInParts<{ id: string; text: string }>(run, {
    read: (after) =>
      tablesOf(run.store)
        .selectFrom('notes')
        .select(['id', 'text'])
        .where('used_at_ms', '<', beforeMs)
        .where('id', '>', after?.id ?? '')
        .orderBy('id')
        .limit(rowsAtOnce)
        .execute(),
    bytesOf: (row) => row.text.length,
    remove: async (tx, rows) => {
      await tx
        .deleteFrom('notes')
        .where(
          'id',
          'in',
          rows.map(({ id }) => id),
        )
        .where('used_at_ms', '<', beforeMs)
        .execute();
    },
  });
}

interface OldRows<Row> {
  /** The next rows after the last one that was read. */
  read(after: Row | null): Promise<readonly Row[]>;
  bytesOf(row: Row): number;
  remove(tx: Tx, rows: readonly Row[]): Promise<void>;
}

/** Removes a few rows per transaction. A dry run only counts. */
async function removeInParts<Row>(run: PruneRun, old: OldRows<Row>): Promise<Removed> {
  const removed: Removed = { count: 0, bytes: 0 };
  let after: Row | null = null;
  while (await run.yieldTurn()) {
    const rows: readonly Row[] = await old.read(after);
    after = rows.at(-1) ?? null;
    if (after === null) break;
    removed.count += rows.length;
    for (const row of rows) removed.bytes += old.bytesOf(row);
    if (!run.isDry) await run.store.transaction((tx: Tx) => old.remove(tx, rows));
  }
  return removed;
}

/** Removes refs of deleted snapshots from their tasks. */
export async function forgetRescueRefs(
  store: Store,
  gone: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  for (const [id, refs] of gone) {
    await store.transaction(async (tx: Tx) => {
      const row = await tx
        .selectFrom('tasks')
        .select('rescue_refs')
        .where('id', '=', id)
        .executeTakeFirst();
      if (row === undefined || row.rescue_refs === '[]') return;
      const left = (JSON.parse(row.rescue_refs) as string[]).filter((ref) => !refs.includes(ref));
      await tx
        .updateTable('tasks')
        .set({ rescue_refs: JSON.stringify(left) })
        .where('id', '=', id)
        .execute();
    });
  }
}
