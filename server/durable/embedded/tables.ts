// The two tables of the embedded durable adapter, and how they are created.

import { sql, type Generated, type Kysely } from 'kysely';
import type { WorkflowState } from '../port.ts';

export interface WorkflowsTable {
  /** The starting order. */
  seq: Generated<number>;
  id: string;
  name: string;
  queue: string;
  priority: number;
  /** JSON. */
  input: string;
  state: WorkflowState;
  /** JSON; null if it has not ended or returned nothing. */
  result: string | null;
  error: string | null;
  /** The process that runs it, as the adapter's `processId`. Null unless `running`. */
  owner: string | null;
  /** Increases with every claim. A write with an older epoch is refused. */
  epoch: number;
  lease_expires_at: number | null;
  cancel_requested: number;
  created_at: number;
  updated_at: number;
}

export interface WorkflowStepsTable {
  workflow_id: string;
  name: string;
  /** JSON; null if the step returned nothing. */
  output: string | null;
  created_at: number;
}

export interface DurableTables {
  workflows: WorkflowsTable;
  workflow_steps: WorkflowStepsTable;
}

/**
 * Creates both tables, inside the transaction of a store migration. The indexes on pending and
 * running rows are partial, so they stay small however many workflows have ended.
 */
export async function createDurableTables<Tables>(db: Kysely<Tables>): Promise<void> {
  await sql`
    create table workflows (
      seq integer primary key,
      id text not null unique,
      name text not null,
      queue text not null,
      priority integer not null,
      input text not null,
      state text not null check (state in ('pending', 'running', 'succeeded', 'failed', 'cancelled')),
      result text,
      error text,
      owner text,
      epoch integer not null default 0,
      lease_expires_at integer,
      cancel_requested integer not null default 0,
      created_at integer not null,
      updated_at integer not null
    ) strict`.execute(db);
  await sql`
    create table workflow_steps (
      workflow_id text not null references workflows (id) on delete cascade,
      name text not null,
      output text,
      created_at integer not null,
      primary key (workflow_id, name)
    ) strict, without rowid`.execute(db);
  await sql`
    create index workflows_pending on workflows (queue, priority desc, seq, name)
    where state = 'pending'`.execute(db);
  await sql`
    create index workflows_running on workflows (queue, owner, lease_expires_at)
    where state = 'running'`.execute(db);
}
