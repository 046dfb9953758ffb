// Migrates a PostgreSQL database to our schema version: completely or not at all, one process at a
// time.

import { type Kysely, sql } from 'kysely';
import { type SchemaStep, schemaVersion, storeSteps } from '../schema/schema.ts';
import { type PlaceWords, PostgresRefusal } from './trouble.ts';

export interface PostgresFacts {
  /** In PostgreSQL's format: 140005 is 14.5. */
  readonly serverVersion: number;
  readonly isStandby: boolean;
  readonly encoding: string;
  /** The schema for new tables; null if the search path contains none. */
  readonly schema: string | null;
  readonly mayCreate: boolean;
  /** 0 = our tables do not exist. */
  readonly schemaVersion: number;
  readonly hasForeignTables: boolean;
}

export const serverVersionMin = 140_000;

/**
 * Reads catalog tables, because the cache of `to_regclass` may be older than the turn that this
 * waited for.
 */
export async function readFacts(db: Kysely<unknown>): Promise<PostgresFacts> {
  const { rows } = await sql<{
    server_version: string;
    is_standby: boolean;
    encoding: string;
    schema: string | null;
    may_create: boolean | null;
    has_version: boolean;
    has_tasks: boolean;
  }>`
    select current_setting('server_version_num') as server_version,
      pg_is_in_recovery() as is_standby, current_setting('server_encoding') as encoding,
      current_schema() as schema,
      has_schema_privilege(current_schema(), 'create') as may_create,
      exists (select from pg_catalog.pg_tables
        where schemaname = current_schema() and tablename = 'drover_schema') as has_version,
      exists (select from pg_catalog.pg_tables
        where schemaname = current_schema() and tablename = 'tasks') as has_tasks`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('a select without a table answered no row');
  const version = row.has_version ? await versionOf(db) : 0;
  return {
    serverVersion: Number(row.server_version),
    isStandby: row.is_standby,
    encoding: row.encoding,
    schema: row.schema,
    mayCreate: row.may_create ?? false,
    schemaVersion: version,
    hasForeignTables: version === 0 && row.has_tasks,
  };
}

/** Why Drover cannot use the database, as an error; null if it can. */
export function unfit(facts: PostgresFacts, place: PlaceWords): PostgresRefusal | null {
  const { shown, user } = place;
  const trouble = (name: ConstructorParameters<typeof PostgresRefusal>[0], words: string) =>
    new PostgresRefusal(name, words);
  if (facts.serverVersion < serverVersionMin) {
    const version = `${Math.floor(facts.serverVersion / 10_000)}.${facts.serverVersion % 10_000}`;
    return trouble(
      'too_old',
      `PostgreSQL at ${place.host} is version ${version}, Drover needs ${serverVersionMin / 10_000} or newer. Upgrade the server, or name another one.`,
    );
  }
  if (facts.encoding !== 'UTF8') {
    return trouble(
      'encoding',
      `The database ${shown} has the encoding ${facts.encoding}, Drover needs UTF8. Create another: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0;`,
    );
  }
  if (facts.isStandby) {
    return trouble('standby', `${shown} only reads. Name the primary server in the URL.`);
  }
  if (facts.schemaVersion > schemaVersion) {
    return trouble(
      'newer_schema',
      `The database ${shown} has schema version ${facts.schemaVersion}, this Drover knows version ${schemaVersion}; nothing was changed. Update Drover, or use the version that wrote it.`,
    );
  }
  if (facts.hasForeignTables) {
    return trouble(
      'foreign_tables',
      `${shown} has a table "tasks" that Drover did not create. Nothing was changed. Give Drover its own database or schema.`,
    );
  }
  if (facts.schemaVersion < schemaVersion && (facts.schema === null || !facts.mayCreate)) {
    return trouble(
      'forbidden',
      `The role "${user}" may not create tables in ${shown}. As the owner of the database, run "drover fleet prepare", then "drover fleet grant ${user}"; or give it a schema of its own: CREATE SCHEMA "${user}" AUTHORIZATION "${user}";`,
    );
  }
  return null;
}

/**
 * Several processes may call this at once. Their transactions run one at a time, and the later ones
 * find the right version.
 */
export async function migratePostgres<Tables>(
  given: Kysely<Tables>,
  place: PlaceWords,
  steps: readonly SchemaStep[] = storeSteps,
): Promise<{ readonly from: number; readonly to: number }> {
  const db = given as unknown as Kysely<unknown>;
  const to = steps.at(-1)?.version ?? 0;
  const before = await readFacts(db);
  refuseUnfit(before, place);
  if (before.schemaVersion === to) return { from: to, to };
  return db.transaction().execute(async (tx) => {
    const facts = await readFacts(tx);
    refuseUnfit(facts, place);
    const from = facts.schemaVersion;
    if (from === 0) {
      await sql`create table drover_schema (version bigint not null)`.execute(tx);
      await sql`insert into drover_schema (version) values (0)`.execute(tx);
    }
    for (const step of steps) if (step.version > from) await step.up(tx);
    await sql`update drover_schema set version = ${to}`.execute(tx);
    return { from, to };
  });
}

function refuseUnfit(facts: PostgresFacts, place: PlaceWords): void {
  const trouble = unfit(facts, place);
  if (trouble !== null) throw trouble;
}

async function versionOf(db: Kysely<unknown>): Promise<number> {
  const { rows } = await sql<{ version: number }>`select version from drover_schema`.execute(db);
  return rows[0]?.version ?? 0;
}
