// The machines of a fleet: which are alive, how many agents each can run, and which tasks have lost
// their machine.

import { handedOver } from '../../core/plan/task.ts';
import { sql } from 'kysely';
import { isPostgres } from '../schema/dialect.ts';
import { textList } from '../rows/one-moment.ts';
import type { Reads, StoreTables, Tx } from '../schema/tables.ts';
import type { Kysely } from 'kysely';

export interface MachineBeat {
  readonly id: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly state: 'working' | 'draining';
  readonly agentsMax: number;
  /** Number of further agents that it can run now. */
  readonly room: number;
  /** Whether it may land work and run gates now. */
  readonly lands: boolean;
  readonly note: string | null;
  readonly version: string;
  readonly compatibility: number;
  readonly aliveForMs: number;
  /** How long it has not reached the shared remote; null while it does. */
  readonly remoteAwayForMs: number | null;
}

export type DrainOrder = 'drain' | 'release';

export interface LiveMachine {
  readonly id: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly isDraining: boolean;
  readonly agentsMax: number;
  readonly room: number;
  readonly lands: boolean;
  readonly compatibility: number;
  /** Whether it cannot reach the shared remote. */
  readonly isCutOff: boolean;
  /** A person's order to drain. `release`: at once, without waiting for its tasks. */
  readonly drainOrder: DrainOrder | null;
}

/** Unix milliseconds by the database's clock, because the machines' clocks may differ. */
export const nowMs = (db: Kysely<StoreTables>) =>
  isPostgres(db)
    ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;

export async function databaseNowMs(db: Kysely<StoreTables>): Promise<number> {
  const { rows } = await sql<{ now: number }>`select ${nowMs(db)} as now`.execute(db);
  return Number(rows[0]?.now);
}

/**
 * Extends this machine's heartbeat by this time and stores its capacity. Resolves with the
 * database's time. Does not take the write turn.
 */
export async function beatMachine(db: Kysely<StoreTables>, beat: MachineBeat): Promise<number> {
  const now = nowMs(db);
  const row = {
    name: beat.name,
    labels: JSON.stringify(beat.labels),
    state: beat.state,
    agents_max: beat.agentsMax,
    room: beat.room,
    lands: beat.lands ? 1 : 0,
    note: beat.note,
    version: beat.version,
    compatibility: beat.compatibility,
    remote_away_since_ms:
      beat.remoteAwayForMs === null
        ? null
        : sql<number>`${now} - ${sql.lit(Math.round(beat.remoteAwayForMs))}`,
    alive_until_ms: sql<number>`${now} + ${sql.lit(Math.round(beat.aliveForMs))}`,
  };
  const beaten = await db
    .insertInto('machines')
    .values({ id: beat.id, joined_at_ms: now, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .returning(now.as('now'))
    .executeTakeFirstOrThrow();
  return Number(beaten.now);
}

/**
 * Recorded before the next heartbeat, so that the tasks it releases are not assigned to it again.
 */
export async function markRemoteUnreachable(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('machines')
    .set({ remote_away_since_ms: nowMs(tx) })
    .where('id', '=', id)
    .where('remote_away_since_ms', 'is', null)
    .execute();
}

/** The machine has released everything and starts nothing more. */
export async function leaveFleet(db: Kysely<StoreTables>, id: string): Promise<void> {
  await db
    .updateTable('machines')
    .set({
      state: 'left',
      room: 0,
      lands: 0,
      alive_until_ms: nowMs(db),
      // The reason why it accepted fewer tasks no longer matters.
      note: null,
      remote_away_since_ms: null,
    })
    .where('id', '=', id)
    .execute();
}

export async function liveMachines(db: Reads): Promise<readonly LiveMachine[]> {
  const rows = await db
    .selectFrom('machines')
    .select(['id', 'name', 'labels', 'state', 'agents_max', 'room', 'lands', 'compatibility'])
    .select(['remote_away_since_ms as awaySinceMs', 'drain_order'])
    .where('state', '!=', 'left')
    .where('alive_until_ms', '>', nowMs(db))
    .orderBy('id')
    .execute();
  return rows.map(({ id, name, room, compatibility, ...row }) => ({
    id,
    name,
    labels: textList(row.labels),
    isDraining: row.state === 'draining',
    agentsMax: row.agents_max,
    room,
    lands: row.lands === 1,
    compatibility,
    isCutOff: row.awaySinceMs !== null,
    drainOrder: row.drain_order as DrainOrder | null,
  }));
}

/** Whether this machine currently does the upkeep that one machine does for all. */
export async function keepsHouse(db: Reads, id: string): Promise<boolean> {
  const [first] = await liveMachines(db);
  return first === undefined || first.id === id;
}

/**
 * Removes machines without a heartbeat for this long that no attempt or worktree references. Every
 * recreated container is a new machine, so they accumulate. Resolves with their number.
 */
export async function forgetMachines(db: Kysely<StoreTables>, silentMs: number): Promise<number> {
  const forgotten = await db
    .deleteFrom('machines')
    .where('alive_until_ms', '<', sql<number>`${nowMs(db)} - ${sql.lit(silentMs)}`)
    .where('id', 'not in', (eb) => eb.selectFrom('attempts').select('machine'))
    .where('id', 'not in', (eb) => eb.selectFrom('slots').select('machine'))
    .returning('id')
    .execute();
  return forgotten.length;
}

/** Whether another machine is alive and may land work now. */
export async function othersLand(db: Reads, id: string): Promise<boolean> {
  return (await liveMachines(db)).some((machine) => machine.lands && machine.id !== id);
}

/** Until when the machine counts as alive, by its last heartbeat; null if unknown. */
export async function aliveUntilMs(db: Reads, id: string): Promise<number | null> {
  const row = await db
    .selectFrom('machines')
    .select('alive_until_ms')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.alive_until_ms ?? null;
}

/** The machine's display name; null if it is no longer known. */
export async function nameOfMachine(db: Reads, id: string): Promise<string | null> {
  const row = await db
    .selectFrom('machines')
    .select('name')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.name ?? null;
}

/**
 * The branch of an attempt and its machine's display name. The name is null if only one machine
 * exists.
 */
export async function machineName(
  db: Reads,
  taskId: string,
  attempt: number,
): Promise<{ readonly name: string | null; readonly branch: string }> {
  const row = await db
    .selectFrom('attempts')
    .leftJoin('machines', 'machines.id', 'attempts.machine')
    .select(['attempts.branch', 'attempts.machine', 'machines.name'])
    .where('attempts.task_id', '=', taskId)
    .where('attempts.number', '=', attempt)
    .executeTakeFirstOrThrow();
  const { branch, machine, name } = row;
  return { branch, name: name ?? (machine === '' ? null : machine) };
}

/** The name of the machine with this id if it is alive, or null. */
export async function aliveAs(db: Reads, id: string): Promise<string | null> {
  return (await liveMachines(db)).find((machine) => machine.id === id)?.name ?? null;
}

/** Number of agents on each machine that run or are about to. */
export async function busyByMachine(db: Reads): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('tasks as t')
    .innerJoin('attempts as a', (join) =>
      join.onRef('a.task_id', '=', 't.id').onRef('a.epoch', '=', 't.epoch'),
    )
    .select((eb) => ['a.machine', eb.fn.countAll<number>().as('n')])
    .where('t.status', 'in', ['claimed', 'in_progress'])
    .where('t.parent_id', 'is', null)
    .where((eb) => eb.or([eb('t.phase', 'is', null), eb('t.phase', 'not in', [...handedOver])]))
    .groupBy('a.machine')
    .execute();
  return new Map(rows.map((row) => [row.machine, Number(row.n)]));
}

/**
 * Assigns worktrees and attempts to this machine if their folders are here. After a move from or to
 * a file, they name no machine or another one.
 */
export async function adoptPlaces(
  tx: Tx,
  machine: string,
  isHere: (path: string) => boolean,
): Promise<void> {
  const slots = await tx
    .selectFrom('slots')
    .select(['machine', 'path'])
    .where('machine', machine === '' ? '!=' : '=', '')
    .execute();
  for (const slot of slots) {
    if (!isHere(slot.path)) continue;
    const taken = await tx
      .selectFrom('slots')
      .select('path')
      .where('machine', '=', machine)
      .where('path', '=', slot.path)
      .executeTakeFirst();
    if (taken !== undefined) continue;
    await tx
      .updateTable('slots')
      .set({ machine })
      .where('machine', '=', slot.machine)
      .where('path', '=', slot.path)
      .execute();
    await tx
      .updateTable('attempts')
      .set({ machine })
      .where('machine', '=', slot.machine)
      .where('worktree_path', '=', slot.path)
      .execute();
  }
}
