// Looks whether a database can be used, and changes nothing: what `drover doctor` says about a URL.

import { Kysely } from 'kysely';
import { schemaVersion } from '../schema.ts';
import { postgresDialect } from './dialect.ts';
import { type PostgresFacts, readFacts, unfit } from './migrate.ts';
import { type PostgresPlace, placeOf } from './place.ts';
import { openPool } from './pool.ts';
import { PostgresTrouble, type PostgresTroubleName } from './trouble.ts';

export interface PostgresCheck {
  readonly ok: boolean;
  /** What is there, or what is wrong with its remedy; never with a password. */
  readonly message: string;
  readonly trouble: PostgresTroubleName | null;
}

const connectMaxMs = 5_000;

export async function checkPostgres(url: string): Promise<PostgresCheck> {
  try {
    const place = placeOf(url);
    const facts = await lookAt(place);
    const trouble = unfit(facts, place);
    if (trouble !== null) throw trouble;
    return { ok: true, message: `${place.shown}: ${words(facts)}`, trouble: null };
  } catch (error) {
    if (!(error instanceof PostgresTrouble)) throw error;
    return { ok: false, message: error.message, trouble: error.trouble };
  }
}

async function lookAt(place: PostgresPlace): Promise<PostgresFacts> {
  const { pool } = openPool(place, {
    connectionsMax: 1,
    connectMaxMs,
    applicationName: 'drover doctor',
  });
  const db = new Kysely<unknown>({ dialect: postgresDialect(pool) });
  try {
    return await readFacts(db);
  } finally {
    await db.destroy();
  }
}

function words(facts: PostgresFacts): string {
  const { serverVersion, schemaVersion: version } = facts;
  const server = `PostgreSQL ${Math.floor(serverVersion / 10_000)}.${serverVersion % 10_000}`;
  if (version === 0) return `${server}, empty; the tables are made at the first start`;
  if (version < schemaVersion)
    return `${server}, schema version ${version}; brought to ${schemaVersion} at the next start`;
  return `${server}, schema version ${version}`;
}
