// The differences of a project in a fleet: the store and the durable engine use a PostgreSQL
// database that all machines share, and the authoritative git repository is a shared remote. Loaded
// only in a fleet.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../core/failure.ts';
import type { FleetSettings } from '../core/settings/fleet-settings.ts';
import type { GitRepository } from '../git/port.ts';
import type { LocalRepository } from '../git/local-port.ts';
import type { Carrier } from '../git/remote/carried-work.ts';
import { checkRemote } from '../git/remote/check.ts';
import type { SharedWork } from '../git/remote/old-work.ts';
import { createSharedRepository } from '../git/remote/shared-repository.ts';
import { refuseMovedPlan } from '../store/exchange/moved-away.ts';
import { readCarried, storeCarried } from '../store/feed/carried-work.ts';
import { othersLand, type Store } from '../store/port.ts';
import { openPostgresStore } from '../store/postgres/open.ts';
import { FleetClock } from './fleet-clock.ts';
import { noteFleet } from '../project/fleet-note.ts';
import type { AgentOutput } from '../output/agent-output.ts';
import { createFleetOutput } from '../output/fleet-output.ts';
import { readMachineId, type ProjectPlaces } from '../project/project-places.ts';
import { storeSources } from '../project/store-sources.ts';

export interface FleetProject {
  readonly machineId: string;
  readonly store: Store;
  readonly git: GitRepository;
  readonly clock: FleetClock;
  /** The database's URL without the password. */
  readonly shown: string;
  /** Snapshots on the shared remote. */
  readonly work: SharedWork;
  readonly output: AgentOutput;
  /** Refuses with a sentence if the machines cannot share the remote. */
  readonly checkRemote: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface FleetOptions extends Pick<FleetSettings, 'remote' | 'branchPrefix'> {
  /** True for a backend, which joins the fleet; false for a command. */
  readonly joins: boolean;
}

export async function openFleetProject(
  url: string,
  places: ProjectPlaces,
  { remote, branchPrefix, joins }: FleetOptions,
  local: LocalRepository,
  report: (error: unknown, where: string) => void,
): Promise<FleetProject> {
  const clock = new FleetClock();
  const opened = await openPostgresStore(url, { ...storeSources, clock });
  try {
    await refuseMovedPlan(opened.store.db, { shown: opened.shown, kind: 'fleet' });
    await clock.compare(opened.store.db);
    // A command that only reads must not switch this clone away from a plan in its own file.
    if (joins || !existsSync(places.database)) noteFleet(places, opened.shown);
    const machineId = machineIdOf(places);
    const { store, shown, onOutput } = opened;
    const output = createFleetOutput({ store, logs: places.logs, machineId, onOutput });
    const carrier = carrierIn(store, machineId);
    const shared = { remote, branchPrefix, machineId, report, carrier };
    const git = createSharedRepository(local, shared);
    const refuseRemote = async (): Promise<void> => {
      const checked = await checkRemote(local, { remote, branchPrefix, machineId });
      if (!checked.ok) throw new Refusal(checked.error.kind, checked.error.message);
      for (const note of checked.value.notes) report(new Error(note), `the remote ${remote}`);
    };
    const close = async (): Promise<void> => {
      await git.settled();
      await output.close();
      await opened.close();
    };
    const parts = { machineId, store, git, clock, shown, output, work: git.work };
    return { ...parts, checkRemote: refuseRemote, close };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Uses the database, which a machine may reach even without the git remote. */
function carrierIn({ db }: Store, machineId: string): Carrier {
  return {
    put: async (work) => (await othersLand(db, machineId)) && storeCarried(db, work),
    get: (commit) => readCarried(db, commit),
  };
}

const idBytes = 6;

/** Permanently identifies this clone, so that its next backend finds its worktrees and agents. */
function machineIdOf(places: ProjectPlaces): string {
  const present = readMachineId(places.folder);
  if (present !== null) return present;
  const path = join(places.folder, 'machine');
  const made = randomBytes(idBytes).toString('hex');
  mkdirSync(places.folder, { recursive: true, mode: 0o700 });
  writeFileSync(path, `${made}\n`, { mode: 0o600 });
  return made;
}
