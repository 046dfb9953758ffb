// What the fleet adapter keeps besides DBOS's own tables, in a schema of its own, and how both are created.

import { sql, type Kysely } from 'kysely';
import type { Pool } from 'pg';
import { migrateDbos } from './dbos.ts';

/** Every statement is written out in SQL, so Kysely need not know the tables. */
export type FleetTables = Record<never, never>;

/**
 * Any process may call this at its start. `drover_durable.steps` holds what steps returned, by name: DBOS keeps its own
 * by number, so that a step inserted by a new release would shift those of the running workflows.
 */
export async function prepareFleetDatabase(db: Kysely<FleetTables>, pool: Pool): Promise<void> {
  await migrateDbos(pool);
  await db.transaction().execute(async (tx) => {
    // `create … if not exists` fails when two processes do it at once.
    await sql`select pg_advisory_xact_lock(hashtext('drover_durable migrate'))`.execute(tx);
    await sql`create schema if not exists drover_durable`.execute(tx);
    await sql`
      create table if not exists drover_durable.steps (
        workflow_id text not null,
        name text not null,
        output text,
        created_at timestamptz not null default now(),
        primary key (workflow_id, name)
      )`.execute(tx);
    await sql`
      create table if not exists drover_durable.executors (
        id text primary key,
        started_at timestamptz not null default now(),
        expires_at timestamptz not null
      )`.execute(tx);
  });
}
