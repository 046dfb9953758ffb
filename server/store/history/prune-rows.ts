// Removes the rows that no task owns once they are old: changes of the past, results of gates,
// deliveries of webhooks.

import { sql, type SqlBool } from 'kysely';
import type { Store } from '../port.ts';
import type { Tx } from '../schema/tables.ts';
import { type PruneRun, type Removed, rowsAtOnce, tablesOf } from './prune.ts';

/** Rows that are read in one go when nothing but their numbers is asked. */
const walkedAtOnce = 2_000;
/** Most changes that one transaction makes. */
const changesMax = 100_000;

/**
 * Changes before the first event that is not older: `drover at` reaches back to that one
 * afterwards.
 */
export async function prunePast(run: PruneRun, beforeMs: number): Promise<Removed> {
  const removed: Removed = { count: 0, bytes: 0 };
  const { store, isDry } = run;
  const first = await firstKept(run, beforeMs);
  const start = await tablesOf(store).selectFrom('past_start').select('seq').executeTakeFirst();
  if (first === undefined || start === undefined || first.seq <= start.seq) return removed;
  const older = await tablesOf(store)
    .selectFrom('past_events')
    .select('seq')
    .where('seq', '<', first.seq)
    .limit(1)
    .executeTakeFirst();
  // A project without anything old keeps its beginning: there is nothing to remove, so nothing is
  // written.
  if (older === undefined) return removed;
  const below = await firstChange(run, first);
  if (below === null) return removed;
  if (!isDry) {
    await store.transaction(async (tx: Tx) => {
      await tx.updateTable('past_start').set({ seq: first.seq }).execute();
    });
  }
  let after = 0;
  while (await run.breathe()) {
    const rows = await tablesOf(store)
      .selectFrom('past')
      .select(['n', 'key', 'old'])
      .where('n', '>', after)
      .where('n', '<', below)
      .orderBy('n')
      .limit(rowsAtOnce)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.n;
    removed.count += rows.length;
    for (const row of rows) removed.bytes += row.key.length + (row.old?.length ?? 0);
    if (!isDry) {
      await store.transaction(async (tx: Tx) => {
        await tx.deleteFrom('past').where('n', '<=', last.n).execute();
      });
    }
  }
  if (!isDry) await removePastEvents(run, first.seq);
  return removed;
}

interface Kept {
  readonly seq: number;
  readonly n: number;
  readonly tx: number;
}

/** The first event that is not older. No index knows the times of events, so they are walked. */
async function firstKept(
  { store, breathe }: PruneRun,
  beforeMs: number,
): Promise<Kept | undefined> {
  let after = 0;
  while (await breathe()) {
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
 * All that the event's own transaction changed stays: its `n` may stand in the middle of that.
 * Null: stop here.
 */
async function firstChange({ store, breathe }: PruneRun, event: Kept): Promise<number | null> {
  let below = event.n;
  for (let to = event.n; to > Math.max(0, event.n - changesMax); to -= walkedAtOnce) {
    if (!(await breathe())) return null;
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

async function removePastEvents({ store, breathe }: PruneRun, before: number): Promise<void> {
  while (await breathe()) {
    const rows = await tablesOf(store)
      .selectFrom('past_events')
      .select('seq')
      .where('seq', '<', before)
      .orderBy('seq')
      .limit(rowsAtOnce)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    await store.transaction(async (tx: Tx) => {
      await tx.deleteFrom('past_events').where('seq', '<=', last.seq).execute();
    });
  }
}

/** Results of gates: a cache, which an unfinished task needs no more than a finished one. */
export async function pruneVerdicts(run: PruneRun, beforeMs: number): Promise<Removed> {
  const removed: Removed = { count: 0, bytes: 0 };
  let at = { ms: -1, tree: '', command: '' };
  while (await run.breathe()) {
    const rows = await tablesOf(run.store)
      .selectFrom('gate_verdicts')
      .select(['tree_sha', 'command', 'at_ms', 'output_tail'])
      .where('at_ms', '<', beforeMs)
      .where(sql<SqlBool>`(at_ms, tree_sha, command) > (${at.ms}, ${at.tree}, ${at.command})`)
      .orderBy('at_ms')
      .orderBy('tree_sha')
      .orderBy('command')
      .limit(rowsAtOnce)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) break;
    at = { ms: last.at_ms, tree: last.tree_sha, command: last.command };
    removed.count += rows.length;
    for (const row of rows) removed.bytes += row.output_tail.length + row.command.length;
    if (run.isDry) continue;
    await run.store.transaction(async (tx: Tx) => {
      for (const { tree_sha: tree, command } of rows) {
        await tx
          .deleteFrom('gate_verdicts')
          .where('tree_sha', '=', tree)
          .where('command', '=', command)
          .where('at_ms', '<', beforeMs)
          .execute();
      }
    });
  }
  return removed;
}

/** Deliveries of webhooks that were sent or have failed. */
export async function pruneDeliveries(run: PruneRun, beforeMs: number): Promise<Removed> {
  const removed: Removed = { count: 0, bytes: 0 };
  let after = { endpoint: '', seq: -1 };
  while (await run.breathe()) {
    const rows = await tablesOf(run.store)
      .selectFrom('webhook_deliveries')
      .select(['endpoint', 'seq', 'body'])
      .where('ended_at_ms', '<', beforeMs)
      .where(sql<SqlBool>`(endpoint, seq) > (${after.endpoint}, ${after.seq})`)
      .orderBy('endpoint')
      .orderBy('seq')
      .limit(rowsAtOnce)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last;
    removed.count += rows.length;
    for (const row of rows) removed.bytes += row.body.length;
    if (run.isDry) continue;
    await run.store.transaction(async (tx: Tx) => {
      for (const { endpoint, seq } of rows) {
        await tx
          .deleteFrom('webhook_deliveries')
          .where('endpoint', '=', endpoint)
          .where('seq', '=', seq)
          .where('ended_at_ms', '<', beforeMs)
          .execute();
      }
    });
  }
  return removed;
}

/** Refs of snapshots that are gone are named by their tasks no longer. */
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
