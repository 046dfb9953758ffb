// The database of a fleet for its owner: `drover fleet prepare` and `drover fleet grant`, and
// doctor's check of it.

import { Refusal } from '../core/failure.ts';
import { openFleetDatabase } from '../durable/fleet/open.ts';
import { grantFleetRole, grantStatements } from '../durable/fleet/grants.ts';
import {
  missingTablesError,
  prepareFleetDatabase,
  readFleetTables,
} from '../durable/fleet/tables.ts';
import { openPostgresStore } from '../store/postgres/open.ts';
import { parseDatabaseUrl } from '../store/postgres/database-url.ts';
import { storeSources } from '../project/store-sources.ts';
import { type Environment, LiveSettings } from '../project/live-settings.ts';

export interface FleetDatabaseRequest {
  readonly root: string;
  readonly env: Environment;
}

export interface FleetPrepared {
  /** The URL without the password. */
  readonly database: string;
}

/**
 * Migrates all tables of a fleet to this release: Drover's own, the durable engine's and DBOS's.
 */
export async function prepareFleet(request: FleetDatabaseRequest): Promise<FleetPrepared> {
  const url = await urlOf(request);
  const opened = await openPostgresStore(url, storeSources, { listen: false });
  try {
    const { db, pool, close } = openFleetDatabase(url);
    try {
      await prepareFleetDatabase(db, pool);
    } finally {
      await close();
    }
    return { database: opened.shown };
  } finally {
    await opened.close();
  }
}

/**
 * Grants a role the privileges that a worker needs. `execute` false: only returns the statements,
 * for an owner without a shell here.
 */
export async function grantFleet(
  request: FleetDatabaseRequest & { readonly role: string; readonly execute: boolean },
): Promise<FleetPrepared & { readonly statements: readonly string[] }> {
  const url = await urlOf(request);
  if (request.execute) await prepareFleet(request);
  const { db, schema, close } = openFleetDatabase(url);
  try {
    const { database, shown } = parseDatabaseUrl(url);
    const grant = { role: request.role, database, storeSchema: await schema() };
    if (request.execute) await grantFleetRole(db, grant);
    return { database: shown, statements: grantStatements(grant) };
  } finally {
    await close();
  }
}

/**
 * Doctor's problem with the durable engine's tables; null if a worker can use or still create them.
 */
export async function fleetTablesProblem(url: string): Promise<string | null> {
  const { db, pool, mayCreate, close } = openFleetDatabase(url);
  try {
    const state = await readFleetTables(db, pool);
    if (state === 'ready' || (state === 'old' && (await mayCreate()))) return null;
    const { user, database } = parseDatabaseUrl(url);
    return missingTablesError(user, database);
  } finally {
    await close();
  }
}

async function urlOf({ root, env }: FleetDatabaseRequest): Promise<string> {
  const live = await LiveSettings.loadValid(root, env);
  const url = live.settings.fleetDatabaseUrl;
  if (url !== null) return url;
  throw new Refusal(
    'no_fleet',
    'DBOS_SYSTEM_DATABASE_URL is not set. Set it to the URL of the PostgreSQL database that the fleet shares, with the role that owns the database: postgresql://owner@db.example:5432/drover.',
  );
}
