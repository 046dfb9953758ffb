// What the fleet adapter keeps besides DBOS's own tables, in a schema of its own, and how both are created.

import { sql, type Kysely } from 'kysely';
import type { Pool } from 'pg';
import { Refusal } from '../../core/failure.ts';
import { dbosSchema, migrateDbos } from './dbos.ts';

/** Every statement is written out in SQL, so Kysely need not know the tables. */
export type FleetTables = Record<never, never>;

/**
 * Any process may call this at its start. `drover_durable.steps` holds what steps returned, by name: DBOS keeps its own
 * by number, so that a step inserted by a new release would shift those of the running workflows.
 */
export async function prepareFleetDatabase(db: Kysely<FleetTables>, pool: Pool): Promise<void> {
  await aloneAmongAll(pool, async () => {
    await migrateDbos(pool);
    await createOwnTables(db);
  });
}

const lockTriesMax = 600;
const lockRetryMs = 100;

/**
 * Asks for the lock again and again instead of waiting inside the database: a session that waits there holds a snapshot,
 * for whose end DBOS's `create index concurrently` would wait in turn.
 */
async function aloneAmongAll(pool: Pool, body: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    for (let tries = 1; ; tries += 1) {
      const { rows } = await client.query<{ mine: boolean }>(
        `select pg_try_advisory_lock(hashtext('drover_durable migrate')) as mine`,
      );
      if (rows[0]?.mine === true) break;
      if (tries === lockTriesMax) throw beingPrepared();
      await new Promise((resolve) => setTimeout(resolve, lockRetryMs));
    }
    await body();
  } finally {
    client.release(true); // The lock ends with the session.
  }
}

function beingPrepared(): Refusal {
  return new Refusal(
    'database',
    'Another process has been preparing the database of the fleet for a minute. Look what it does (pg_stat_activity, ' +
      'application_name drover), end it if it hangs, and try again.',
  );
}

async function createOwnTables(db: Kysely<FleetTables>): Promise<void> {
  await db.transaction().execute(async (tx) => {
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

/**
 * Gives a role what a worker needs and no more: it reads and writes rows, and creates, changes and drops nothing. Run by
 * the owner after `prepareFleetDatabase`; again after each upgrade, since a release may bring new tables.
 */
export async function grantFleetRole(db: Kysely<FleetTables>, role: string): Promise<void> {
  const to = sql.id(role);
  await db.transaction().execute(async (tx) => {
    for (const schema of [sql.id(dbosSchema), sql.id('drover_durable')]) {
      await sql`grant usage on schema ${schema} to ${to}`.execute(tx);
      await sql`
        grant select, insert, update, delete on all tables in schema ${schema} to ${to}`.execute(
        tx,
      );
      await sql`grant usage on all sequences in schema ${schema} to ${to}`.execute(tx);
    }
  });
}
