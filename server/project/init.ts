// `drover init`: creates the project folder (excluded from git without touching the user's files),
// the database and a sample configuration.

import {
  chmodSync,
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { findGate } from '../config/found-gate.ts';
import { sampleToml } from '../config/sample.ts';
import type { SettingKey } from '../core/settings/settings.ts';
import type { SetupProposal } from '../core/work/gate-proposal.ts';
import { Refusal } from '../core/failure.ts';
import type { LocalRepository } from '../git/local-port.ts';
import { openStore } from '../store/open.ts';
import { openLocalRepository } from './open-repository.ts';
import { storeSources } from './store-sources.ts';
import { checkIdentity, markIdentity, refuseTracked } from './identity.ts';
import { keepPlan, restorePlan } from './kept-plan.ts';
import { type Environment, LiveSettings } from './live-settings.ts';
import {
  projectPlaces,
  projectFolderName,
  type ProjectPlaces,
  projectRoot,
} from './project-places.ts';
import { thisPlatform } from '../platform/this-platform.ts';

export interface InitResult {
  readonly root: string;
  readonly database: string;
  readonly already: boolean;
  /** Git settings that can cause loss of work. */
  readonly warnings: readonly string[];
  /** Null if there is nothing to ask, because it already was a project or the fleet decides. */
  readonly proposal: SetupProposal | null;
}

/** Turns the repository that contains `folder` into a project. A second call changes nothing. */
export async function initProject(folder: string, environment: Environment): Promise<InitResult> {
  const local = await openLocalRepository(folder, { environment });
  const { commonDir } = local.facts;
  const root = projectRoot(commonDir) ?? local.facts.root;
  const live = await LiveSettings.loadValid(root, environment);
  const { fleetDatabaseUrl: fleetUrl } = live.settings;
  const shown = fleetUrl === null ? null : await shownDatabase(fleetUrl);
  const places = projectPlaces(root, live.settings.databasePath);
  await restorePlan(places);
  const already = existsSync(places.database);
  if (already) await refuseForeignPlan(places, local);
  else await refuseTracked({ places, openLocal: async () => local });
  const toml = join(root, '.drover.toml');
  const hasFile = existsSync(toml);
  try {
    mkdirSync(places.folder, { recursive: true, mode: 0o700 });
    // It may have existed and been readable for others.
    if (thisPlatform.hasFileModes) chmodSync(places.folder, 0o700);
    if (live.settings.databasePath !== null)
      mkdirSync(dirname(places.database), { recursive: true });
    excludeFromGit(commonDir);
    // In a fleet, each clone would get one, and could not pull a committed one.
    if (!already && fleetUrl === null && !hasFile) writeFileSync(toml, sampleToml());
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Refusal(
      'unwritable',
      `${root} can't be written (${code}). Make it writable and run "drover init" again.`,
    );
  }
  const { store, close } = await openStore(places.database, storeSources);
  try {
    await markIdentity({ places, store, openLocal: async () => local });
  } finally {
    await close();
  }
  keepPlan(places);
  const isAsked = !already && fleetUrl === null;
  const proposal = isAsked ? await proposeSetup(root, live, hasFile) : null;
  const database = shown ?? places.database;
  return { root, database, already, warnings: local.warnings, proposal };
}

/** The database with the plan, without its password. */
async function shownDatabase(url: string): Promise<string> {
  const { parseDatabaseUrl: placeOf } = await import('../store/postgres/database-url.ts');
  return placeOf(url).shown;
}

const workersMin = 3;
/** Each agent costs money, so more is the user's decision. */
const workersMax = 4;

/** If the repository already has the file, its authors accepted the number of workers. */
async function proposeSetup(
  root: string,
  { loaded }: LiveSettings,
  hasFile: boolean,
): Promise<SetupProposal> {
  const isOpen = (key: SettingKey): boolean => loaded.values[key].source === 'default';
  const workers = Math.min(workersMax, Math.max(workersMin, availableParallelism()));
  const asks = [
    ...(isOpen('agent.kind') ? (['agent'] as const) : []),
    ...(isOpen('gate.command') && isOpen('gate.stages') ? (['gate'] as const) : []),
    ...(!hasFile && isOpen('max_workers') ? (['workers'] as const) : []),
  ];
  return { asks, gate: await findGate(root), workers };
}

/** Called before anything is written. */
async function refuseForeignPlan(places: ProjectPlaces, local: LocalRepository): Promise<void> {
  const { store, close } = await openStore(places.database, storeSources);
  try {
    await checkIdentity({ places, store, openLocal: async () => local });
  } finally {
    await close();
  }
}

/** Run-time files must not show in `git status`, and the user's .gitignore is not ours to edit. */
function excludeFromGit(commonDir: string): void {
  const path = join(commonDir, 'info', 'exclude');
  const present = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const line = `/${projectFolderName}/`;
  if (present.split(/\r?\n/).includes(line)) return;
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `${present === '' || present.endsWith('\n') ? '' : '\n'}${line}\n`);
}
