// An opened project: its settings, its database and its repository, without the engine. Every
// command needs it.

import type { FleetSettings } from '../core/settings/fleet-settings.ts';
import type { GitRepository } from '../git/port.ts';
import type { SettingsView } from '../project/accepted-settings.ts';
import { GitShells } from '../git/process/shells.ts';
import { openPlan } from '../project/open-plan.ts';
import { ReleasedLines } from '../project/released-lines.ts';
import { restorePlan } from '../project/kept-plan.ts';
import { type Environment, LiveSettings, type SettingFlags } from '../project/live-settings.ts';
import { noOutput } from '../output/agent-output.ts';
import { openLocalRepository } from '../project/open-repository.ts';
import { projectPlaces } from '../project/project-places.ts';
import { secretRules } from '../project/secrets.ts';
import { refuseWrongDatabase } from '../project/store-sources.ts';
import type { Report, FleetRole, Project } from '../project/opened-project.ts';

/**
 * Opens the parts that data requests need: settings, database and repository. Refuses with a
 * sentence.
 */
export async function openProject(
  root: string,
  environment: Environment,
  flags: SettingFlags,
  options: {
    /** A backend checks the database thoroughly and joins the fleet. */
    readonly opener: 'backend' | 'command';
    readonly report?: Report;
    readonly view?: SettingsView;
    /** Called as soon as the settings are known, before anything else is opened. */
    readonly onSettings?: (live: LiveSettings) => void;
  } = { opener: 'command' },
): Promise<Project> {
  const live = await LiveSettings.load(root, environment, flags, options.view);
  options.onSettings?.(live);
  refuseWrongDatabase(live);
  const places = projectPlaces(root, live.settings.databasePath);
  const shells = new GitShells();
  const local = await openLocalRepository(root, {
    elsewhere: shells.run,
    ...secretRules(live),
  });
  const url = live.settings.fleetDatabaseUrl;
  if (url !== null) {
    await restorePlan(places);
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
    const released = new ReleasedLines();
    const role: FleetRole = { lands: false, leads: false, released, knowsDead: () => true };
    const fleet = { url, shown, checkRemote, clock, role, work };
    return { ...parts, local, openRepository, fleet, places, live, close: closeAll };
  }
  const opening = openPlan({ places, openLocal: async () => local }, options.opener === 'backend');
  const { store, close: closeStore } = await opening.catch((error: unknown) => {
    shells.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    await closeStore();
    shells.close();
  };
  const openRepository = async (): Promise<GitRepository> => local;
  const parts = { places, live, store, git: local, local, openRepository, close };
  return { machineId: '', fleet: null, output: noOutput, ...parts };
}

/**
 * A run's request reaches a backend that already has its remote, so a different remote is refused
 * before.
 */
function fleetFor(live: LiveSettings, view: SettingsView | undefined): FleetSettings {
  if (view === 'accepted' && live.judged.accepted === null) live.refuseUnaccepted('fleet.');
  return (view === undefined ? live.accepted : live.settings).fleet;
}
