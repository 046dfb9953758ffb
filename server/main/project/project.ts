// An opened project: its settings, its database and its repository, and nothing of the engine. What every command needs.

import type { FleetClock } from '../fleet/fleet-clock.ts';
import type { GitRepository } from '../../git/port.ts';
import type { SharedWork } from '../../git/shared/old-work.ts';
import type { LocalRepository } from '../../git/repository.ts';
import type { SettingsView } from './accepted-settings.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/port.ts';
import { refuseFileOfFleet } from '../fleet/fleet-note.ts';
import { createHelperProcess, type HelperProcess } from '../helper/helper-process.ts';
import { checkIdentity } from './identity.ts';
import { restorePlan } from './kept-plan.ts';
import { type Environment, LiveSettings, type SettingFlags } from './live-settings.ts';
import { type AgentOutput, noOutput } from '../output/agent-output.ts';
import { openRepositoryAt } from './open-repository.ts';
import { placesOf, type ProjectPlaces } from './places.ts';
import { secretRules } from './secrets.ts';
import { refuseWrongDatabase, storeSources } from './store-sources.ts';

export type Report = (error: unknown, where: string) => void;

/** What this machine does for its fleet now, besides running agents; the pulse keeps it. */
export interface FleetRole {
  lands: boolean;
  /** It hands out work: no machine that takes some has a newer release. */
  leads: boolean;
}

export interface Project {
  /** Names this machine in the fleet; '' = nobody else works on the plan. */
  readonly machineId: string;
  /** The fleet's database, for the durable engine; null = the project is in its own file. */
  readonly fleet: {
    readonly url: string;
    /** The same without the password. */
    readonly shown: string;
    /** Refuses when the remote can't be what the machines share. */
    readonly checkRemote: () => Promise<void>;
    readonly clock: FleetClock;
    readonly role: FleetRole;
    /** Snapshots on the shared remote. */
    readonly work: SharedWork;
  } | null;
  readonly places: ProjectPlaces;
  readonly live: LiveSettings;
  readonly store: Store;
  readonly git: GitRepository;
  /** The repository on this machine's disk, which the other one is about. */
  readonly local: LocalRepository;
  readonly openRepository: () => Promise<GitRepository>;
  readonly helper: HelperProcess;
  /** What agents write, for and from other machines. */
  readonly output: AgentOutput;
  close(): Promise<void>;
}

/** Opens what data requests need: settings, database and repository. Refuses with a sentence. */
export async function openProject(
  root: string,
  environment: Environment,
  flags: SettingFlags,
  options: {
    readonly thorough: boolean;
    readonly report?: Report;
    readonly view?: SettingsView;
  } = { thorough: false },
): Promise<Project> {
  const live = await LiveSettings.load(root, environment, flags, options.view);
  refuseWrongDatabase(live);
  const places = placesOf(root, live.settings.databasePath);
  await restorePlan(places);
  const helper = createHelperProcess();
  const local = await openRepositoryAt(root, {
    elsewhere: helper.runGit,
    ...secretRules(live),
  });
  const url = live.settings.fleetDatabaseUrl;
  if (url !== null) {
    const { openFleetProject } = await import('../fleet/fleet.ts');
    const { remote } = live.settings.fleet;
    const report = options.report ?? ((): void => {});
    const opening = openFleetProject(url, places, remote, local, report);
    const { shown, checkRemote, clock, close, work, ...parts } = await opening;
    const closeAll = async (): Promise<void> => {
      await close();
      helper.close();
    };
    const openRepository = async (): Promise<GitRepository> => parts.git;
    const role: FleetRole = { lands: false, leads: false };
    const fleet = { url, shown, checkRemote, clock, role, work };
    return { ...parts, local, openRepository, fleet, places, live, helper, close: closeAll };
  }
  refuseFileOfFleet(places);
  const storeOptions = { thorough: options.thorough, durability: 'grouped' } as const;
  const store = await openStore(places.database, storeSources, storeOptions);
  try {
    await checkIdentity({ places, store: store.store, openLocal: async () => local });
  } catch (error) {
    await store.close();
    helper.close();
    throw error;
  }
  const close = async (): Promise<void> => {
    await store.close();
    helper.close();
  };
  const openRepository = async (): Promise<GitRepository> => local;
  const parts = {
    places,
    live,
    store: store.store,
    git: local,
    local,
    openRepository,
    helper,
    close,
  };
  return { machineId: '', fleet: null, output: noOutput, ...parts };
}
