// Checks whether a database can be used, without changing it, for `drover doctor` with a URL.

import { Kysely } from 'kysely';
import type { MachineView } from '../../protocol/api.ts';
import { readMachines } from '../fleet/machine-views.ts';
import type { Db } from '../rows/one-moment.ts';
import { schemaVersion } from '../schema/schema.ts';
import { postgresDialect } from './dialect.ts';
import { type PostgresFacts, readFacts, unfit } from './migrate.ts';
import { type PostgresPlace, parseDatabaseUrl } from './database-url.ts';
import { openPool } from './pool.ts';
import { refuseSharedSessions } from './pooler.ts';
import { PostgresRefusal, type PostgresRefusalName } from './trouble.ts';

export interface PostgresCheck {
  readonly ok: boolean;
  /** The database's version, or the problem with its remedy. Never contains a password. */
  readonly message: string;
  readonly trouble: PostgresRefusalName | null;
  /** Machines of the fleet that shares the database; empty until its tables exist. */
  readonly machines: readonly MachineView[];
}

const connectMaxMs = 5_000;

/** `heardBeforeMs`: as for `readMachines`. */
export async function checkPostgres(url: string, heardBeforeMs = 0): Promise<PostgresCheck> {
  try {
    const place = parseDatabaseUrl(url);
    const { facts, machines } = await lookAt(place, heardBeforeMs);
    const trouble = unfit(facts, place);
    if (trouble !== null) throw trouble;
    return { ok: true, message: `${place.shown}: ${words(facts)}`, trouble: null, machines };
  } catch (error) {
    if (!(error instanceof PostgresRefusal)) throw error;
    return { ok: false, message: error.message, trouble: error.trouble, machines: [] };
  }
}

async function lookAt(
  place: PostgresPlace,
  heardBeforeMs: number,
): Promise<{ readonly facts: PostgresFacts; readonly machines: readonly MachineView[] }> {
  const { pool } = openPool(place, {
    connectionsMax: 2,
    connectMaxMs,
    applicationName: 'drover doctor',
  });
  const db = new Kysely<unknown>({ dialect: postgresDialect(pool) });
  try {
    await refuseSharedSessions(pool, place);
    const facts = await readFacts(db);
    const isOurs = facts.schemaVersion === schemaVersion;
    const machines = isOurs ? await readMachines(db as unknown as Db, heardBeforeMs) : [];
    return { facts, machines };
  } finally {
    await db.destroy();
  }
}

function words(facts: PostgresFacts): string {
  const { serverVersion, schemaVersion: version } = facts;
  const server = `PostgreSQL ${Math.floor(serverVersion / 10_000)}.${serverVersion % 10_000}`;
  if (version === 0) return `${server}, empty; the tables are created at the first start`;
  if (version < schemaVersion)
    return `${server}, schema version ${version}; brought to ${schemaVersion} at the next start`;
  return `${server}, schema version ${version}`;
}
