// An opened project: its settings, its database and its repository, without the engine. Every
// command needs it.

import type { FleetSettings } from '../../core/settings/fleet-settings.ts';
import type { GitRepository } from '../../git/port.ts';
import type { SettingsView } from './accepted-settings.ts';
import { refuseMovedAway } from '../../store/exchange/moved-away.ts';
import { openStore } from '../../store/open.ts';
import { refuseFileOfFleet } from '../fleet/fleet-note.ts';
import { GitShells } from '../../git/process/shells.ts';
import { checkIdentity, refuseTrackedLinks } from './identity.ts';
import { restorePlan } from './kept-plan.ts';
import { type Environment, LiveSettings, type SettingFlags } from './live-settings.ts';
import { noOutput } from '../../output/agent-output.ts';
import { openRepositoryAt } from './open-repository.ts';
import { placesOf } from './project-places.ts';
import { secretRules } from './secrets.ts';
import { refuseWrongDatabase, storeSources } from './store-sources.ts';
import type { Report, FleetRole, Project } from './opened-project.ts';

/** Opens what data requests need: settings, database and repository. Refuses with a sentence. */
export async function openProject(
  root: string,
  environment: Environment,
  flags: SettingFlags,
  options: {
    /** A backend checks the database thoroughly, and takes part in the fleet. */
    readonly opener: 'backend' | 'command';
    readonly report?: Report;
    readonly view?: SettingsView;
    /** Called as soon as they are known, before anything else is opened. */
    readonly onSettings?: (live: LiveSettings) => void;
  } = { opener: 'command' },
): Promise<Project> {
  const live = await LiveSettings.load(root, environment, flags, options.view);
  options.onSettings?.(live);
  refuseWrongDatabase(live);
  const places = placesOf(root, live.settings.databasePath);
  await restorePlan(places);
  const shells = new GitShells();
  const local = await openRepositoryAt(root, {
    elsewhere: shells.run,
    ...secretRules(live),
  });
  const url = live.settings.fleetDatabaseUrl;
  if (url !== null) {
    const { openFleetProject } = await import('../fleet/fleet-project.ts');
    const report = options.report ?? ((): void => {});
    const settings = { ...fleetFor(live, options.view), joins: options.opener === 'backend' };
    const opening = openFleetProject(url, places, settings, local, report);
    const { shown, checkRemote, clock, close, work, ...parts } = await opening;
    const closeAll = async (): Promise<void> => {
      await close();
      shells.close();
    };
    const openRepository = async (): Promise<GitRepository> => parts.git;
    const role: FleetRole = { lands: false, leads: false, knowsDead: () => true };
    const fleet = { url, shown, checkRemote, clock, role, work };
    return { ...parts, local, openRepository, fleet, places, live, close: closeAll };
  }
  refuseFileOfFleet(places);
  try {
    await refuseTrackedLinks({ places, openLocal: async () => local });
  } catch (error) {
    shells.close();
    throw error;
  }
  const store = await openStore(places.database, storeSources, {
    thorough: options.opener === 'backend',
    durability: 'grouped',
  });
  try {
    await refuseMovedAway(store.store.db, { shown: places.database, kind: 'file' });
    await checkIdentity({ places, store: store.store, openLocal: async () => local });
  } catch (error) {
    await store.close();
    shells.close();
    throw error;
  }
  const close = async (): Promise<void> => {
    await store.close();
    shells.close();
  };
  const openRepository = async (): Promise<GitRepository> => local;
  const data = { places, live, store: store.store };
  const parts = { ...data, git: local, local, openRepository, close };
  return { machineId: '', fleet: null, output: noOutput, ...parts };
}

/** A run's word comes to a backend that has its remote already: so that one is refused before. */
function fleetFor(live: LiveSettings, view: SettingsView | undefined): FleetSettings {
  if (view === 'accepted' && live.judged.accepted === null) live.refuseUnaccepted('fleet.');
  return (view === undefined ? live.accepted : live.settings).fleet;
}
