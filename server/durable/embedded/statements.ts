// All SQL statements of the embedded adapter, one per function.
//
// The states of a workflow's row: `pending` waits to be claimed; `running` has an owner, an epoch
// and a lease; `succeeded`, `failed` and `cancelled` have ended. Its owner ends a `running` row. If
// the owner is dead or the lease has expired, it returns to `pending` (or `cancelled`, if that was
// requested).

import { sql, type Kysely } from 'kysely';
import type { WorkflowState } from '../port.ts';
import type { Claimable, NewWorkflow, WorkflowRow } from '../workflow-rows.ts';
import type { DurableTables } from './tables.ts';

/** The database, or a transaction on it. */
export type Db = Kysely<DurableTables>;

/** The conditions that a write for a running workflow must still meet. */
export interface Fence {
  readonly id: string;
  readonly owner: string;
  readonly epoch: number;
}

export interface ClaimedRow extends NewWorkflow {
  readonly seq: number;
  readonly epoch: number;
}

export type Outcome =
  | { readonly state: 'succeeded'; readonly result: string | null }
  | { readonly state: 'failed'; readonly error: string }
  | { readonly state: 'pending' };

export async function insertWorkflow(db: Db, row: NewWorkflow, now: number): Promise<void> {
  await sql`
    insert into workflows (id, name, queue, priority, input, state, created_at, updated_at)
    values (${row.id}, ${row.name}, ${row.queue}, ${row.priority}, ${row.input}, 'pending', ${now}, ${now})
    on conflict (id) do nothing`.execute(db);
}

export async function readWorkflow(db: Db, id: string): Promise<WorkflowRow | null> {
  const { rows } = await sql<WorkflowRow>`
    select id, name, queue, state, result, error from workflows where id = ${id}`.execute(db);
  return rows[0] ?? null;
}

export async function readEnded(db: Db, ids: readonly string[]): Promise<readonly WorkflowRow[]> {
  const { rows } = await sql<WorkflowRow>`
    select id, name, queue, state, result, error from workflows
    where id in (select value from json_each(${JSON.stringify(ids)}))
      and state in ('succeeded', 'failed', 'cancelled')`.execute(db);
  return rows;
}

/** Queues with pending work. Takes one index lookup per queue, however long it is. */
export async function queuesWithPending(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ queue: string }>`
    with recursive found (queue) as (
      select min(queue) from workflows where state = 'pending'
      union all
      select (select min(queue) from workflows where state = 'pending' and queue > found.queue)
      from found where found.queue is not null
    )
    select queue from found where queue is not null`.execute(db);
  return rows.map((row) => row.queue);
}

export async function countRunning(db: Db, queue: string): Promise<number> {
  const { rows } = await sql<{ running: number }>`
    select count(*) as running from workflows where state = 'running' and queue = ${queue}`.execute(
    db,
  );
  return rows[0]?.running ?? 0;
}

export interface ClaimRequest extends Claimable {
  readonly queue: string;
  readonly limit: number;
  readonly owner: string;
  readonly leaseExpiresAt: number;
  readonly now: number;
}

/** Claims the first pending workflows of a queue, in order. */
export async function claim(db: Db, request: ClaimRequest): Promise<readonly ClaimedRow[]> {
  const { rows } = await sql<ClaimedRow>`
    update workflows
    set state = 'running', owner = ${request.owner}, epoch = epoch + 1,
        lease_expires_at = ${request.leaseExpiresAt}, updated_at = ${request.now}
    where seq in (
      select seq from workflows
      where state = 'pending' and queue = ${request.queue}
        and name in (select value from json_each(${JSON.stringify(request.names)}))
        and id not in (select value from json_each(${JSON.stringify(request.notIds)}))
      order by priority desc, seq
      limit ${request.limit}
    )
    returning seq, id, name, queue, priority, input, epoch`.execute(db);
  // RETURNING guarantees no order.
  return rows.toSorted((a, b) => b.priority - a.priority || a.seq - b.seq);
}

export interface StoredStep {
  readonly workflow_id: string;
  readonly name: string;
  readonly output: string | null;
}

export async function readSteps(db: Db, ids: readonly string[]): Promise<readonly StoredStep[]> {
  const { rows } = await sql<StoredStep>`
    select workflow_id, name, output from workflow_steps
    where workflow_id in (select value from json_each(${JSON.stringify(ids)}))`.execute(db);
  return rows;
}

/** Stores a step's output if the lease is held; otherwise returns false. */
export async function insertStep(
  db: Db,
  fence: Fence,
  name: string,
  output: string | null,
  now: number,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into workflow_steps (workflow_id, name, output, created_at)
    select ${fence.id}, ${name}, ${output}, ${now}
    where exists (
      select 1 from workflows
      where id = ${fence.id} and owner = ${fence.owner} and epoch = ${fence.epoch} and state = 'running'
    )`.execute(db);
  return numAffectedRows === 1n;
}

/** Whether a commit may continue: the lease is held and no cancel was requested. */
export async function mayCommit(db: Db, fence: Fence): Promise<'yes' | 'lost' | 'cancelled'> {
  const { rows } = await sql<{ cancel_requested: number }>`
    select cancel_requested from workflows
    where id = ${fence.id} and owner = ${fence.owner} and epoch = ${fence.epoch}
      and state = 'running'`.execute(db);
  const row = rows[0];
  if (row === undefined) return 'lost';
  return row.cancel_requested === 1 ? 'cancelled' : 'yes';
}

/**
 * Ends a claim. A cancel that was requested before overrides the outcome. Returns null if the lease
 * was already lost.
 */
export async function finish(
  db: Db,
  fence: Fence,
  outcome: Outcome,
  now: number,
): Promise<WorkflowRow | null> {
  const result = outcome.state === 'succeeded' ? outcome.result : null;
  const error = outcome.state === 'failed' ? outcome.error : null;
  const { rows } = await sql<WorkflowRow>`
    update workflows
    set state = case cancel_requested when 1 then 'cancelled' else ${outcome.state} end,
        result = case cancel_requested when 1 then null else ${result} end,
        error = case cancel_requested when 1 then null else ${error} end,
        owner = null, lease_expires_at = null, cancel_requested = 0, updated_at = ${now}
    where id = ${fence.id} and owner = ${fence.owner} and epoch = ${fence.epoch} and state = 'running'
    returning id, name, queue, state, result, error`.execute(db);
  return rows[0] ?? null;
}

export interface HeldRow {
  readonly id: string;
  readonly epoch: number;
  readonly cancel_requested: number;
}

/** Extends the leases of the given workflows that this owner still holds, and returns those. */
export async function renewLeases(
  db: Db,
  owner: string,
  ids: readonly string[],
  leaseExpiresAt: number,
): Promise<readonly HeldRow[]> {
  const { rows } = await sql<HeldRow>`
    update workflows set lease_expires_at = ${leaseExpiresAt}
    where id in (select value from json_each(${JSON.stringify(ids)}))
      and state = 'running' and owner = ${owner}
    returning id, epoch, cancel_requested`.execute(db);
  return rows;
}

/** Like `renewLeases`, without writing. */
export async function readHeld(
  db: Db,
  owner: string,
  ids: readonly string[],
): Promise<readonly HeldRow[]> {
  const { rows } = await sql<HeldRow>`
    select id, epoch, cancel_requested from workflows
    where id in (select value from json_each(${JSON.stringify(ids)}))
      and state = 'running' and owner = ${owner}`.execute(db);
  return rows;
}

export interface OwnerRow {
  readonly owner: string;
  /** When the first of its leases expires. */
  readonly first_expiry: number;
}

export async function readOwners(db: Db): Promise<readonly OwnerRow[]> {
  const { rows } = await sql<OwnerRow>`
    select owner, min(lease_expires_at) as first_expiry from workflows
    where state = 'running' group by owner`.execute(db);
  return rows;
}

/** Releases running workflows of dead owners and those whose lease has expired. */
export async function releaseAbandoned(
  db: Db,
  deadOwners: readonly string[],
  now: number,
): Promise<void> {
  await sql`
    update workflows
    set state = case cancel_requested when 1 then 'cancelled' else 'pending' end,
        owner = null, lease_expires_at = null, cancel_requested = 0, updated_at = ${now}
    where state = 'running'
      and (lease_expires_at <= ${now}
        or owner in (select value from json_each(${JSON.stringify(deadOwners)})))`.execute(db);
}

export interface CancelRow {
  readonly state: WorkflowState;
  readonly owner: string | null;
}

/**
 * Cancels a pending workflow at once and marks a running one. Returns null if it has ended or does
 * not exist.
 */
export async function requestCancel(db: Db, id: string, now: number): Promise<CancelRow | null> {
  const { rows } = await sql<CancelRow>`
    update workflows
    set cancel_requested = case state when 'running' then 1 else 0 end,
        state = case state when 'running' then 'running' else 'cancelled' end, updated_at = ${now}
    where id = ${id} and state in ('pending', 'running')
    returning state, owner`.execute(db);
  return rows[0] ?? null;
}

/** Also withdraws a cancel that its owner has not handled yet. That run then ends as pending. */
export async function resume(db: Db, id: string, now: number): Promise<void> {
  await sql`
    update workflows
    set state = case state when 'running' then 'running' else 'pending' end,
        cancel_requested = 0, result = null, error = null, updated_at = ${now}
    where id = ${id}
      and (state in ('failed', 'cancelled') or (state = 'running' and cancel_requested = 1))`.execute(
    db,
  );
}

/**
 * Deletes steps of workflows with `afterSeq < seq <= throughSeq` that succeeded before a time.
 * Others may be resumed.
 */
export async function forgetSteps(
  db: Db,
  afterSeq: number,
  throughSeq: number,
  endedBefore: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from workflow_steps where workflow_id in (
      select id from workflows
      where seq > ${afterSeq} and seq <= ${throughSeq}
        and state = 'succeeded' and updated_at < ${endedBefore}
    )`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

export async function readLastSeq(db: Db): Promise<number> {
  const { rows } = await sql<{ last: number | null }>`
    select max(seq) as last from workflows`.execute(db);
  return rows[0]?.last ?? 0;
}
