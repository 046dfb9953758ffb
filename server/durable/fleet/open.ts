// Opens a fleet's database from its URL: one bounded pool, Kysely on it, DBOS's tables and ours,
// and the adapter.

import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import type { Pool } from 'pg';
import { compatibilityNumber } from '../../core/compatibility.ts';
import { isProcessAlive, processIdentity } from '../embedded/process-identity.ts';
import { systemClock } from '../embedded/system-clock.ts';
import { createFleetDurable } from './fleet.ts';
import type { QueueLimits } from '../port.ts';
import { openFleetPool } from './pool.ts';
import { formatRelease } from './releases.ts';
import { prepareFleetDatabase, type FleetTables } from './tables.ts';
import type { FleetDurable } from './fleet-options.ts';

export interface OpenFleetOptions<Tables> {
  readonly url: string;
  /**
   * The same database as opened by the store, so that `commit` and `record` write under the store's
   * rules (its writing transactions take turns). The caller closes it. By default, one on the
   * adapter's pool.
   */
  readonly bodiesDb?: Kysely<Tables>;
  /** Defaults to this process's identity. */
  readonly executorId?: string;
  readonly applicationVersion?: string;
  readonly takeOverAfterMs?: number;
  readonly limitsOf?: (queue: string) => QueueLimits | undefined;
  /**
   * Maximum number of this process's connections to the database, including DBOS's and the
   * listening one.
   */
  readonly poolSize?: number;
  /**
   * If false, the role may not create tables, and `prepareFleetDatabase` was run by one that may.
   */
  readonly prepare?: boolean;
  readonly crashPoint?: (workflowId: string, stepName: string) => void;
  readonly onTrouble?: (error: unknown) => void;
}

export interface OpenedFleet<Tables> {
  readonly durable: FleetDurable<Transaction<Tables>>;
  /** The database that bodies write to. */
  readonly db: Kysely<Tables>;
  /** Closes the adapter, then the pool. */
  close(): Promise<void>;
}

const takeOverAfterMsDefault = 15_000;
const poolSizeDefault = 10;

export async function openFleet<Tables>(
  options: OpenFleetOptions<Tables>,
): Promise<OpenedFleet<Tables>> {
  const takeOverAfterMs = options.takeOverAfterMs ?? takeOverAfterMsDefault;
  const { pool, dropAll } = openFleetPool({
    url: options.url,
    connectionsMax: options.poolSize ?? poolSizeDefault,
    takeOverAfterMs,
    onTrouble: (error) => options.onTrouble?.(error),
  });
  const db = new Kysely<FleetTables>({ dialect: new PostgresDialect({ pool }) });
  const bodiesDb = options.bodiesDb ?? (db as unknown as Kysely<Tables>);
  try {
    if (options.prepare !== false) await prepareFleetDatabase(db, pool);
    const durable = await createFleetDurable<Tables>({
      pool,
      db,
      bodiesDb: bodiesDb as unknown as Kysely<never>,
      clock: systemClock,
      executorId: options.executorId ?? processIdentity(),
      isExecutorAlive: isProcessAlive,
      applicationVersion: options.applicationVersion ?? formatRelease(compatibilityNumber),
      takeOverAfterMs,
      limitsOf: options.limitsOf,
      onExpired: dropAll,
      crashPoint: options.crashPoint,
      onTrouble: options.onTrouble,
    });
    const close = async (): Promise<void> => {
      await durable.close();
      await db.destroy();
    };
    return { durable, db: bodiesDb, close };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

export interface FleetDatabase {
  readonly db: Kysely<FleetTables>;
  readonly pool: Pool;
  /** The schema of tables that are named without one. */
  readonly schema: () => Promise<string>;
  /** Whether the role may create the engine's own schemas. */
  readonly mayCreate: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** The database without an engine, to prepare it, grant privileges or inspect it. */
export function openFleetDatabase(url: string): FleetDatabase {
  const { pool } = openFleetPool({
    url,
    connectionsMax: 1,
    takeOverAfterMs: takeOverAfterMsDefault,
    onTrouble: () => undefined,
  });
  const db = new Kysely<FleetTables>({ dialect: new PostgresDialect({ pool }) });
  const schema = async (): Promise<string> => {
    const { rows } = await sql<{ schema: string | null }>`
      select current_schema() as schema`.execute(db);
    return rows[0]?.schema ?? 'public';
  };
  const mayCreate = async (): Promise<boolean> => {
    const { rows } = await sql<{ may: boolean }>`
      select has_database_privilege(current_database(), 'create') as may`.execute(db);
    return rows[0]?.may === true;
  };
  return { db, pool, schema, mayCreate, close: () => db.destroy() };
}
