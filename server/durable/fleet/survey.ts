// The check that a process makes once a second, in one statement, so that an idle fleet costs its
// database little.

import { sql } from 'kysely';
import type { ExecutorRow } from './executors.ts';
import { cancelPrefix, type Db } from './statements.ts';

/** A claim of this process according to the database. */
export interface ClaimRow {
  readonly id: string;
  readonly token: string;
  readonly cancelled: boolean;
}

export interface Survey {
  /** All that have not left, including those that are known only from their workflows. */
  readonly executors: readonly ExecutorRow[];
  readonly claims: readonly ClaimRow[];
  /** Whether any queue has pending work. */
  readonly isWorkPending: boolean;
}

interface SurveyRow {
  readonly kind: 'executor' | 'claim' | 'pending';
  readonly id: string;
  /** Token of a claim. */
  readonly token: string;
  /** Heartbeat of an executor. */
  readonly beat: string;
  readonly expired: boolean;
}

const allExecutors = sql`
  select 'executor' as kind, id, '' as token, expires_at::text as beat,
    expires_at <= clock_timestamp() as expired
  from drover_durable.executors
  union all
  select distinct 'executor', executor_id, '', '', true from dbos.workflow_status ws
  where status = 'PENDING' and application_name = 'drover' and not exists (
    select 1 from drover_durable.executors e where e.id = ws.executor_id)`;

const claimsOf = (executorId: string) => sql`
  select 'claim' as kind, workflow_uuid as id, coalesce(owner_xid, '') as token, '' as beat,
    false as expired
  from dbos.workflow_status where status = 'PENDING' and executor_id = ${executorId}`;

export async function survey(db: Db, executorId: string): Promise<Survey> {
  const { rows } = await sql<SurveyRow>`
    ${allExecutors} union all ${claimsOf(executorId)} union all
    select 'pending', '', '', '', false where exists (
      select 1 from dbos.workflow_status where status = 'ENQUEUED' and queue_name is not null)`.execute(
    db,
  );
  return {
    executors: rows.filter(({ kind }) => kind === 'executor'),
    claims: rows.filter(({ kind }) => kind === 'claim').map(toClaim),
    isWorkPending: rows.some(({ kind }) => kind === 'pending'),
  };
}

export async function readExecutors(db: Db): Promise<readonly ExecutorRow[]> {
  const { rows } = await sql<SurveyRow>`${allExecutors}`.execute(db);
  return rows;
}

export async function readClaims(db: Db, executorId: string): Promise<readonly ClaimRow[]> {
  const { rows } = await sql<SurveyRow>`${claimsOf(executorId)}`.execute(db);
  return rows.map(toClaim);
}

function toClaim({ id, token }: SurveyRow): ClaimRow {
  const cancelled = token.startsWith(cancelPrefix);
  return { id, token: cancelled ? token.slice(cancelPrefix.length) : token, cancelled };
}
