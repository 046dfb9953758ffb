// All SQL statements of the fleet adapter, on DBOS's table of workflows and our table of steps.
//
// DBOS's states are ENQUEUED (our pending), PENDING (our running), SUCCESS, ERROR and CANCELLED.
// `owner_xid` is its token of a claim: ends and steps are recorded only under the token in the row.
// A cancel of a running workflow prefixes the token, which refuses everything except the current
// step until its owner has released it.

import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { WorkflowState } from '../port.ts';
import { send } from '../unanswered.ts';
import type { NewWorkflow, WorkflowRow } from '../workflow-rows.ts';
import type { FleetTables } from './tables.ts';

/** The database, or a transaction on it. */
export type Db = Kysely<FleetTables>;

/** The conditions that a write for a running workflow must still meet. */
export interface Fence {
  readonly id: string;
  readonly token: string;
}

export interface FleetWorkflow extends NewWorkflow {
  readonly applicationVersion: string;
  /**
   * Later than this process's earlier starts, so that workflows of one millisecond keep their
   * order.
   */
  readonly createdAfter: number;
}

export interface ReleasedRow extends WorkflowRow {
  readonly release: string | null;
}

const nowMs = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
export const cancelPrefix = 'cancel:';

/** DBOS starts with the lowest number. */
const priorityZero = 1_000_000_000;

/** The time by which it is ordered; null if the id already existed. */
export async function insertWorkflow(db: Db, row: FleetWorkflow): Promise<number | null> {
  const { rows } = await inserted(row, sql`${row.createdAfter}::bigint`).execute(db);
  return rows[0] === undefined ? null : Number(rows[0].created_at);
}

/** Orders the workflow after all existing ones, without waiting for its time. */
export async function insertWorkflowLast(tx: Db, row: FleetWorkflow): Promise<void> {
  const last = sql`(select max(created_at) from dbos.workflow_status)`;
  await send(tx, inserted(row, sql`greatest(${row.createdAfter}::bigint, ${last})`));
}

function inserted(
  row: FleetWorkflow,
  after: RawBuilder<unknown>,
): RawBuilder<{ readonly created_at: string }> {
  return sql<{ created_at: string }>`
    with started as (
      insert into dbos.workflow_status (
        workflow_uuid, status, name, queue_name, priority, created_at, updated_at, recovery_attempts,
        application_version, application_id, application_name, executor_id, serialization,
        authenticated_user, assumed_role, authenticated_roles)
      values (
        ${row.id}, 'ENQUEUED', ${row.name}, ${row.queue}, ${priorityZero - row.priority},
        greatest(${nowMs}, ${after} + 1), ${nowMs}, 0,
        ${row.applicationVersion}, '', 'drover', '', 'portable_json', '', '', '[]')
      on conflict (workflow_uuid) do nothing
      returning workflow_uuid, created_at
    ), given as (
      insert into dbos.workflow_input (workflow_uuid, inputs, retention_timestamp)
      select workflow_uuid, ${`{"positionalArgs":[${row.input}]}`}, created_at from started
      on conflict (workflow_uuid) do update set inputs = excluded.inputs
    )
    select created_at from started`;
}

interface StatusRow {
  readonly id: string;
  readonly name: string;
  readonly queue: string | null;
  readonly status: string;
  readonly output: string | null;
  readonly error: string | null;
  readonly release: string | null;
}

const selectWorkflows = sql`
  select ws.workflow_uuid as id, ws.name, ws.queue_name as queue, ws.status, ws.application_version as release,
    coalesce(wo.output, ws.output) as output, coalesce(wo.error, ws.error) as error
  from dbos.workflow_status ws
  left join dbos.workflow_output wo on wo.workflow_uuid = ws.workflow_uuid`;

export async function readWorkflow(db: Db, id: string): Promise<ReleasedRow | null> {
  const { rows } = await sql<StatusRow>`
    ${selectWorkflows} where ws.workflow_uuid = ${id}`.execute(db);
  return rows[0] === undefined ? null : toRow(rows[0]);
}

export async function readEnded(db: Db, ids: readonly string[]): Promise<readonly ReleasedRow[]> {
  const { rows } = await sql<StatusRow>`
    ${selectWorkflows} where ws.workflow_uuid = any(${ids}::text[])
      and ws.status not in ('ENQUEUED', 'DELAYED', 'PENDING')`.execute(db);
  return rows.map(toRow);
}

function toRow({ id, name, queue, status, output, error, release }: StatusRow): ReleasedRow {
  const state = stateOf(status);
  return {
    id,
    name,
    queue: queue ?? '',
    state,
    result: state === 'succeeded' ? output : null,
    error: state === 'failed' ? messageOf(status, error) : null,
    release,
  };
}

function stateOf(status: string): WorkflowState {
  switch (status) {
    case 'ENQUEUED':
    case 'DELAYED':
      return 'pending';
    case 'PENDING':
      return 'running';
    case 'SUCCESS':
      return 'succeeded';
    case 'CANCELLED':
      return 'cancelled';
    default:
      return 'failed'; // ERROR and MAX_RECOVERY_ATTEMPTS_EXCEEDED.
  }
}

/** DBOS stores an error as `{"name", "message"}`. */
function messageOf(status: string, error: string | null): string {
  if (error === null) return status;
  try {
    return (JSON.parse(error) as { message?: string }).message ?? error;
  } catch {
    return error;
  }
}

export async function readMemos(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Map<string, string | null>>> {
  const { rows } = await sql<{ workflow_id: string; name: string; output: string | null }>`
    select workflow_id, name, output from drover_durable.steps
    where workflow_id = any(${ids}::text[])`.execute(db);
  const memos = new Map(ids.map((id) => [id, new Map<string, string | null>()]));
  for (const { workflow_id: id, name, output } of rows) memos.get(id)?.set(name, output);
  return memos;
}

/**
 * Stores a step's output if the claim is held; otherwise returns false. The row is locked until the
 * end of the transaction, so that no process takes the workflow over in between.
 */
export async function insertStep(
  db: Db,
  fence: Fence,
  name: string,
  output: string | null,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    with held as (
      select 1 from dbos.workflow_status
      where workflow_uuid = ${fence.id} and status = 'PENDING'
        and owner_xid in (${fence.token}, ${cancelPrefix + fence.token})
      for share
    )
    insert into drover_durable.steps (workflow_id, name, output)
    select ${fence.id}, ${name}, ${output} from held`.execute(db);
  return numAffectedRows === 1n;
}

export type ClaimState = 'held' | 'held and not cancelled';

const refusedClaim = 'the claim is lost or cancelled';

/**
 * Makes the transaction fail unless the claim is in this state. Locks the row like `insertStep`.
 * `isRefusedClaim` recognizes the text that cannot be converted to a number.
 */
export async function refuseUnless(tx: Db, fence: Fence, claim: ClaimState): Promise<void> {
  const tokens = claim === 'held' ? [fence.token, cancelPrefix + fence.token] : [fence.token];
  await send(
    tx,
    sql`
    with held as materialized (
      select 1 from dbos.workflow_status
      where workflow_uuid = ${fence.id} and status = 'PENDING' and owner_xid = any(${tokens}::text[])
      for share
    )
    select (case count(*) when 1 then '1' else ${refusedClaim}::text end)::int from held`,
  );
}

export function isRefusedClaim(error: unknown): boolean {
  return error instanceof Error && error.message.includes(refusedClaim);
}

/** Used in a transaction that started with `refuseUnless`. */
export async function storeStep(
  tx: Db,
  fence: Fence,
  name: string,
  output: string | null,
): Promise<void> {
  await send(
    tx,
    sql`
    insert into drover_durable.steps (workflow_id, name, output)
    values (${fence.id}, ${name}, ${output})`,
  );
}

/**
 * Whether a commit may continue: the claim is held and no cancel was requested. Locks the row like
 * `insertStep`.
 */
export async function mayCommit(db: Db, fence: Fence): Promise<'yes' | 'lost' | 'cancelled'> {
  const { rows } = await sql<{ token: string }>`
    select owner_xid as token from dbos.workflow_status
    where workflow_uuid = ${fence.id} and status = 'PENDING'
      and owner_xid in (${fence.token}, ${cancelPrefix + fence.token})
    for share`.execute(db);
  const row = rows[0];
  if (row === undefined) return 'lost';
  return row.token === fence.token ? 'yes' : 'cancelled';
}

export type Outcome =
  | { readonly status: 'SUCCESS'; readonly output: string }
  | { readonly status: 'ERROR'; readonly error: string };

/**
 * Ends a claim. A cancel that was requested before overrides the outcome. Does nothing if the claim
 * was already lost.
 */
export async function finish(db: Db, fence: Fence, outcome: Outcome): Promise<void> {
  const output = outcome.status === 'SUCCESS' ? outcome.output : null;
  const error =
    outcome.status === 'ERROR' ? JSON.stringify({ name: 'Error', message: outcome.error }) : null;
  await sql`
    with ended as (
      update dbos.workflow_status set
        status = case when owner_xid like 'cancel:%' then 'CANCELLED' else ${outcome.status} end,
        completed_at = ${nowMs}, updated_at = ${nowMs}, owner_xid = null
      where workflow_uuid = ${fence.id} and status = 'PENDING'
        and owner_xid in (${fence.token}, ${cancelPrefix + fence.token})
      returning workflow_uuid, status
    )
    insert into dbos.workflow_output (workflow_uuid, output, error)
    select workflow_uuid, ${output}, ${error} from ended where status <> 'CANCELLED'
    on conflict (workflow_uuid) do update set output = excluded.output, error = excluded.error`.execute(
    db,
  );
}

/**
 * The columns that every release of a claim sets: back to the queue, or to canceled if that was
 * requested.
 */
const givenUp = sql`
  status = case when owner_xid like 'cancel:%' then 'CANCELLED' else 'ENQUEUED' end,
  completed_at = case when owner_xid like 'cancel:%' then ${nowMs} end,
  owner_xid = null, started_at_epoch_ms = null, updated_at = ${nowMs}`;

/** Releases one claim. Returns false if it was already lost. */
export async function giveUp(db: Db, fence: Fence): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update dbos.workflow_status set ${givenUp}
    where workflow_uuid = ${fence.id} and status = 'PENDING'
      and owner_xid in (${fence.token}, ${cancelPrefix + fence.token})`.execute(db);
  return numAffectedRows === 1n;
}

/**
 * Releases rows that are marked as ours but do not run here: claims whose start or end could not be
 * written, and cancels that arrived while a body returned. Claims of the last seconds are left,
 * because they may be about to start.
 */
export async function giveUpStray(
  db: Db,
  executorId: string,
  runningIds: readonly string[],
  idsWithBody: readonly string[],
): Promise<number> {
  const { numAffectedRows } = await sql`
    update dbos.workflow_status set ${givenUp}
    where status = 'PENDING' and executor_id = ${executorId} and case
      when owner_xid like 'cancel:%' then workflow_uuid <> all(${idsWithBody}::text[])
      else workflow_uuid <> all(${runningIds}::text[]) and started_at_epoch_ms < ${nowMs} - 5000
    end`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

export interface CancelRow {
  readonly status: string;
  readonly executor: string | null;
  readonly token: string | null;
}

/**
 * Cancels a pending workflow at once and marks a running one. Returns null if it has ended or does
 * not exist.
 */
export async function requestCancel(db: Db, id: string): Promise<CancelRow | null> {
  const { rows } = await sql<CancelRow>`
    update dbos.workflow_status set
      status = case status when 'PENDING' then status else 'CANCELLED' end,
      owner_xid = case
        when status <> 'PENDING' then null
        when owner_xid like 'cancel:%' then owner_xid
        else 'cancel:' || coalesce(owner_xid, '') end,
      completed_at = case status when 'PENDING' then null else ${nowMs} end,
      updated_at = ${nowMs}
    where workflow_uuid = ${id} and status in ('ENQUEUED', 'DELAYED', 'PENDING')
    returning status, executor_id as executor, substr(owner_xid, 8) as token`.execute(db);
  return rows[0] ?? null;
}

/**
 * Also withdraws a cancel that its owner has not handled yet. That run continues, or ends as
 * pending.
 */
export async function resume(db: Db, id: string): Promise<void> {
  await sql`
    with resumed as (
      update dbos.workflow_status set
        status = case status when 'PENDING' then status else 'ENQUEUED' end,
        owner_xid = case status when 'PENDING' then substr(owner_xid, 8) end,
        queue_name = coalesce(queue_name, '_dbos_internal_queue'),
        recovery_attempts = 0, completed_at = null, updated_at = ${nowMs}
      where workflow_uuid = ${id}
        and (status in ('ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED')
          or (status = 'PENDING' and owner_xid like 'cancel:%'))
      returning workflow_uuid
    )
    delete from dbos.workflow_output where workflow_uuid in (select workflow_uuid from resumed)`.execute(
    db,
  );
}

/**
 * Deletes at most `limit` steps of workflows that succeeded before a time. Returns their number.
 */
export async function forgetSteps(db: Db, olderThanMs: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from drover_durable.steps where (workflow_id, name) in (
      select s.workflow_id, s.name from drover_durable.steps s
      join dbos.workflow_status ws on ws.workflow_uuid = s.workflow_id
      where ws.status = 'SUCCESS' and ws.completed_at < ${nowMs} - ${olderThanMs}::bigint
      limit ${limit}
    )`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
