// The adapter's tables beside DBOS's own, in a separate schema, and how both are created.

import { sql, type Kysely } from 'kysely';
import type { Pool } from 'pg';
import { Refusal } from '../../core/failure.ts';
import { dbosSchema, isDbosMigrated, migrateDbos } from './dbos.ts';

/** Every statement is plain SQL, so Kysely need not know the tables. */
export type FleetTables = Record<never, never>;

/**
 * Any process may call this at its start. If the tables are up to date it only reads, so that a
 * role without the privilege to create anything suffices. `drover_durable.steps` contains the
 * results of steps by name: DBOS stores its own by number, so a step inserted by a new release
 * would shift those of running workflows.
 */
export async function prepareFleetDatabase(db: Kysely<FleetTables>, pool: Pool): Promise<void> {
  if ((await readFleetTables(db, pool)) === 'ready') return;
  try {
    await aloneAmongAll(pool, async () => {
      if ((await readFleetTables(db, pool)) === 'ready') return;
      await migrateDbos(pool);
      await createOwnTables(db);
    });
  } catch (error) {
    throw (error as { code?: unknown }).code === forbidden ? await mayNotPrepare(db) : error;
  }
}

/**
 * `old`: missing, or of an earlier release. `closed`: they exist, but the role may not write rows
 * in them.
 */
export type FleetTablesState = 'ready' | 'old' | 'closed';

/**
 * Reads the catalogs, which every role may read, before anything that the role might not be allowed
 * to access.
 */
export async function readFleetTables(
  db: Kysely<FleetTables>,
  pool: Pool,
): Promise<FleetTablesState> {
  const { rows } = await sql<{ name: string; open: boolean }>`
    select n.nspname || '.' || c.relname as name,
      has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
        and (c.relname = 'dbos_migrations' or has_table_privilege(c.oid, 'insert, update, delete')) as open
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where (n.nspname, c.relname) in (('drover_durable', 'steps'), ('drover_durable', 'executors'),
      (${dbosSchema}, 'dbos_migrations'), (${dbosSchema}, 'workflow_status'))`.execute(db);
  if (rows.length < tablesLookedFor) return 'old';
  if (rows.some(({ open }) => !open)) return 'closed';
  return (await isDbosMigrated(pool)) ? 'ready' : 'old';
}

const tablesLookedFor = 4;
/** SQLSTATE `insufficient_privilege`. */
const forbidden = '42501';

async function mayNotPrepare(db: Kysely<FleetTables>): Promise<Refusal> {
  const { rows } = await sql<{ role: string; database: string }>`
    select current_user as role, current_database() as database`.execute(db);
  const { role, database } = rows[0] ?? { role: '?', database: '?' };
  return new Refusal('database', missingTablesError(role, database));
}

/** The error for a role that can neither use nor create the tables. */
export function missingTablesError(role: string, database: string): string {
  return (
    `The role "${role}" cannot use the fleet's tables in the database "${database}" and may not create them. ` +
    `As the owner of the database, run "drover fleet prepare", then "drover fleet grant ${role}".`
  );
}

const lockTriesMax = 600;
const lockRetryMs = 100;

/**
 * Retries taking the lock instead of waiting inside the database: a session that waits there holds
 * a snapshot, and DBOS's `create index concurrently` would in turn wait for its end.
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
    'Another process has been preparing the database of the fleet for a minute. Check what it is doing (pg_stat_activity, ' +
      'application_name drover), stop it if it hangs, and try again.',
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
