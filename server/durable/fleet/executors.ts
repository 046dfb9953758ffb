// Which processes of the fleet are alive, and taking over the workflows of dead ones.
//
// All times are the database's, because the machines' clocks may differ.

import { sql } from 'kysely';
import type { Db } from './statements.ts';

/** Extends this process's heartbeat by this time. */
export async function beat(db: Db, id: string, aliveForMs: number): Promise<void> {
  await sql`
    insert into drover_durable.executors (id, expires_at)
    values (${id}, clock_timestamp() + ${aliveForMs} * interval '1 millisecond')
    on conflict (id) do update set expires_at = excluded.expires_at`.execute(db);
}

/** Removes this process, which has released everything. */
export async function leave(db: Db, id: string): Promise<void> {
  await sql`delete from drover_durable.executors where id = ${id}`.execute(db);
}

export interface ExecutorRow {
  readonly id: string;
  readonly expired: boolean;
  /** Different for each heartbeat. Empty for a process that is known only from its work. */
  readonly beat: string;
}

/** `silent`: their heartbeats have expired. `ended`: they have certainly ended on this machine. */
export interface DeadExecutors {
  readonly silent: readonly string[];
  readonly ended: readonly string[];
}

/**
 * Returns the work of dead processes to the queues. Only one process does so at a time, and checks
 * again under the lock, so that every claim is taken over once. Returns their number.
 */
export async function takeOver(db: Db, { silent, ended }: DeadExecutors): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('drover take-over'))`.execute(tx);
    await sql`
      delete from drover_durable.executors
      where (expires_at <= clock_timestamp() and id = any(${silent}::text[]))
        or id = any(${ended}::text[])`.execute(tx);
    const { numAffectedRows } = await sql`
      update dbos.workflow_status ws set
        status = case when owner_xid like 'cancel:%' then 'CANCELLED' else 'ENQUEUED' end,
        completed_at = case when owner_xid like 'cancel:%'
          then (extract(epoch from clock_timestamp()) * 1000)::bigint end,
        owner_xid = null, started_at_epoch_ms = null,
        updated_at = (extract(epoch from clock_timestamp()) * 1000)::bigint
      where status = 'PENDING' and application_name = 'drover' and not exists (
        select 1 from drover_durable.executors e where e.id = ws.executor_id)`.execute(tx);
    return Number(numAffectedRows ?? 0n);
  });
}
