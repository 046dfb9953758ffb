// `drover migrate`: copies the whole project from its SQLite file to PostgreSQL, or back, and
// verifies the copy.

import { hostname } from 'node:os';
import { Refusal } from '../core/failure.ts';
import { moveStore, type MoveReport } from '../store/exchange/move-project.ts';
import { markPlanMoved, refuseMovedPlan } from '../store/exchange/moved-away.ts';
import { openStore } from '../store/open.ts';
import { type Store, liveMachines } from '../store/port.ts';
import { openPostgresStore } from '../store/postgres/open.ts';
import { PostgresRefusal } from '../store/postgres/trouble.ts';
import { acquireExclusive } from '../store/sqlite/exclusive.ts';
import { storeSources } from '../project/store-sources.ts';
import { type Environment, LiveSettings } from '../project/live-settings.ts';
import { forgetFleet, noteFleet } from '../project/fleet-note.ts';
import { projectPlaces } from '../project/project-places.ts';

/** How long one side may wait in its transaction while a whole table of the other is read. */
const oneSideMaxMs = 600_000;

export interface MigrateOptions {
  readonly root: string;
  readonly direction: 'to' | 'from';
  /**
   * Null = use `DBOS_SYSTEM_DATABASE_URL`. A password belongs there, not on a command line that
   * others can see.
   */
  readonly url: string | null;
  readonly env: Environment;
}

export interface MigrateReport extends MoveReport {
  readonly from: string;
  readonly to: string;
}

/** Changes by a machine after the copy was made would be lost with the fleet's database. */
async function refuseWhileWorking({ db }: Store): Promise<void> {
  const alive = await liveMachines(db);
  if (alive.length === 0) return;
  const names = alive.map(({ name }) => name).join(', ');
  throw new Refusal(
    'already_running',
    `Machines of the fleet are running: ${names}. Stop their workers and backends ("drover server stop" in their clones), then try again.`,
  );
}

/** A worker's role can write rows, but a move into the database also sets its sequences. */
async function ownersOnly<T>(moving: Promise<T>): Promise<T> {
  try {
    return await moving;
  } catch (error) {
    if (!(error instanceof PostgresRefusal) || error.trouble !== 'forbidden') throw error;
    const said = error.cause instanceof Error ? ` (${error.cause.message})` : '';
    throw new Refusal(
      error.kind,
      `Only the owner of the database can move a plan into it${said}. Nothing was moved. Set DBOS_SYSTEM_DATABASE_URL to the owner's URL, then try again.`,
    );
  }
}

/** Afterwards the source refuses everything except a move back. */
export async function migrateProject(options: MigrateOptions): Promise<MigrateReport> {
  const { root, direction } = options;
  const live = await LiveSettings.loadValid(root, options.env);
  const url = options.url ?? live.settings.fleetDatabaseUrl;
  if (url === null) {
    throw new Refusal(
      'bad_configuration',
      `No database to move ${direction} is set. Name it (drover migrate --${direction} postgresql://role@host/database), or set DBOS_SYSTEM_DATABASE_URL.`,
    );
  }
  const places = projectPlaces(root, live.settings.databasePath);
  const lock = acquireExclusive(places.lock);
  if (lock === null) {
    throw new Refusal(
      'already_running',
      `A backend is running for ${root}. Run "drover server stop", then try again.`,
    );
  }
  try {
    const fleet = await openPostgresStore(url, storeSources, {
      listen: false,
      idleInTransactionMaxMs: oneSideMaxMs,
    });
    try {
      if (direction === 'from') await refuseWhileWorking(fleet.store);
      const file = await openStore(places.database, storeSources);
      try {
        const sides = [
          { kind: 'file', db: file.store.db, shown: places.database },
          { kind: 'fleet', db: fleet.store.db, shown: fleet.shown },
        ] as const;
        const [from, to] = direction === 'to' ? sides : ([sides[1], sides[0]] as const);
        await refuseMovedPlan(from.db, from);
        const where = to.kind === 'file' ? `${to.shown} on ${hostname()}` : to.shown;
        const report = await ownersOnly(
          moveStore(from.db, to.db, (tx) => markPlanMoved(tx, storeSources, where)),
        );
        if (direction === 'from') forgetFleet(places);
        else noteFleet(places, fleet.shown);
        return { from: from.shown, to: to.shown, ...report };
      } finally {
        await file.close();
      }
    } finally {
      await fleet.close();
    }
  } finally {
    lock.release();
  }
}
