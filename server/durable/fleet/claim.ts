// Claims pending workflows up to the limits of their queues.

import { sql } from 'kysely';
import type { QueueLimits } from '../port.ts';
import type { Claimable } from '../workflow-rows.ts';
import { anyRelease } from './releases.ts';
import type { Db } from './statements.ts';

export interface ClaimRequest extends Claimable {
  readonly limitsOf: (queue: string) => QueueLimits | undefined;
  /** How many workflows already run in this process. */
  readonly runningByQueue: ReadonlyMap<string, number>;
  readonly executorId: string;
  readonly applicationVersion: string;
  /** Fences everything claimed now. Never reused. */
  readonly token: string;
}

export interface ClaimedWorkflow {
  readonly id: string;
  readonly queue: string;
}

interface ClaimedRow {
  readonly id: string;
  readonly queue: string;
  readonly priority: number;
  readonly created_at: string;
}

/** Maximum number of workflows per queue claimed in one transaction, so that it stays short. */
const claimBatch = 64;

/** `more`: a queue had at least a full batch, so claim again. */
export async function claimWork(
  db: Db,
  request: ClaimRequest,
): Promise<{ readonly claimed: readonly ClaimedWorkflow[]; readonly more: boolean }> {
  const rows: ClaimedRow[] = [];
  let more = false;
  for (const queue of await queuesWithPending(db)) {
    const room = roomHere(request, queue);
    if (room <= 0) continue;
    const claimed = await claimOfQueue(db, request, queue, Math.min(room, claimBatch));
    rows.push(...claimed);
    more ||= claimed.length === claimBatch;
  }
  return { claimed: rows.map(({ id, queue }) => ({ id, queue })), more };
}

function roomHere(request: ClaimRequest, queue: string): number {
  const perProcess = request.limitsOf(queue)?.perProcess;
  if (perProcess === undefined) return Infinity;
  return perProcess - (request.runningByQueue.get(queue) ?? 0);
}

async function claimOfQueue(
  db: Db,
  request: ClaimRequest,
  queue: string,
  limit: number,
): Promise<readonly ClaimedRow[]> {
  const concurrency = request.limitsOf(queue)?.concurrency;
  if (concurrency === undefined) return claim(db, request, queue, limit);
  return db.transaction().execute(async (tx) => {
    // Only one claimer of this queue at a time counts the running workflows of all processes. It
    // holds the lock until its claim is visible.
    await sql`select pg_advisory_xact_lock(hashtext('drover queue'), hashtext(${queue}))`.execute(
      tx,
    );
    const room = Math.min(limit, concurrency - (await countRunning(tx, queue)));
    return room > 0 ? claim(tx, request, queue, room) : [];
  });
}

/** Queues with pending work. Takes one index lookup per queue, however long it is. */
async function queuesWithPending(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ queue: string }>`
    with recursive found (queue) as (
      select min(queue_name) from dbos.workflow_status where status = 'ENQUEUED'
      union all
      select (
        select min(queue_name) from dbos.workflow_status
        where status = 'ENQUEUED' and queue_name > found.queue
      )
      from found where found.queue is not null
    )
    select queue from found where queue is not null`.execute(db);
  return rows.map((row) => row.queue);
}

async function countRunning(db: Db, queue: string): Promise<number> {
  const { rows } = await sql<{ running: string }>`
    select count(*) as running from dbos.workflow_status
    where status = 'PENDING' and queue_name = ${queue}`.execute(db);
  return Number(rows[0]?.running ?? 0);
}

/**
 * Claims the first pending workflows of a queue, in order. A process whose heartbeat has expired
 * claims nothing, because it would lose it at once. The inner select is materialized, because
 * PostgreSQL may run a subquery with a limit twice.
 */
async function claim(
  db: Db,
  request: ClaimRequest,
  queue: string,
  limit: number,
): Promise<readonly ClaimedRow[]> {
  const { rows } = await sql<ClaimedRow>`
    with taken as materialized (
      select workflow_uuid from dbos.workflow_status
      where status = 'ENQUEUED' and queue_name = ${queue}
        and application_name = 'drover' and application_version in (${request.applicationVersion}, ${anyRelease})
        and name = any(${request.names}::text[])
        and workflow_uuid <> all(${request.notIds}::text[])
        and exists (
          select 1 from drover_durable.executors
          where id = ${request.executorId} and expires_at > clock_timestamp()
        )
      order by priority, created_at
      limit ${limit}
      for update skip locked
    )
    update dbos.workflow_status ws
    set status = 'PENDING', executor_id = ${request.executorId}, owner_xid = ${request.token},
      started_at_epoch_ms = (extract(epoch from clock_timestamp()) * 1000)::bigint,
      updated_at = (extract(epoch from clock_timestamp()) * 1000)::bigint,
      recovery_attempts = ws.recovery_attempts + 1
    from taken where ws.workflow_uuid = taken.workflow_uuid
    returning ws.workflow_uuid as id, ws.queue_name as queue, ws.priority, ws.created_at`.execute(
    db,
  );
  // RETURNING guarantees no order.
  return rows.toSorted(
    (a, b) => a.priority - b.priority || Number(a.created_at) - Number(b.created_at),
  );
}
