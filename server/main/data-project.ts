// A project for a command that reads or changes the plan: its database, and facts about its
// repository from files. Starts git only for queries that need it.

import { readCheckoutHead, type CheckoutHead } from '../git/refs/head-from-files.ts';
import type { GitRepository } from '../git/port.ts';
import type { LocalRepository } from '../git/local-port.ts';
import { openPlan } from '../project/open-plan.ts';
import { type Environment, LiveSettings, type SettingFlags } from '../project/live-settings.ts';
import { noOutput } from '../output/agent-output.ts';
import { projectPlaces } from '../project/project-places.ts';
import { secretRules } from '../project/secrets.ts';
import { refuseWrongDatabase } from '../project/store-sources.ts';
import type { DataGit } from '../rpc/handlers/data-deps.ts';
import type { Project } from '../project/opened-project.ts';

export interface DataProject extends Pick<
  Project,
  'machineId' | 'places' | 'live' | 'store' | 'output' | 'close'
> {
  readonly git: DataGit;
  readonly openRepository: () => Promise<GitRepository>;
}

/** Refuses with a sentence. Leaves unusual repositories to `openProject`. */
export async function openDataProject(
  root: string,
  environment: Environment,
  flags: SettingFlags,
): Promise<DataProject> {
  const live = await LiveSettings.load(root, environment, flags);
  refuseWrongDatabase(live);
  const look = live.settings.fleetDatabaseUrl === null ? readCheckoutHead(root) : null;
  if (look === null) {
    const { openProject } = await import('./open-project.ts');
    return await openProject(root, environment, flags);
  }
  const places = projectPlaces(root, live.settings.databasePath);
  const openLocal = (): Promise<LocalRepository> => openRepositoryOf(root, live);
  const { store, close } = await openPlan({ places, openLocal }, false);
  const openRepository = repositoryAt(root, live);
  const git = gitOf(look, openRepository);
  return { machineId: '', output: noOutput, places, live, store, git, openRepository, close };
}

function repositoryAt(root: string, live: LiveSettings): () => Promise<GitRepository> {
  let opened: Promise<GitRepository> | null = null;
  return () => (opened ??= openRepositoryOf(root, live));
}

async function openRepositoryOf(root: string, live: LiveSettings): Promise<LocalRepository> {
  const { openLocalRepository } = await import('../project/open-repository.ts');
  return await openLocalRepository(root, { environment: live.environment, ...secretRules(live) });
}

function gitOf(look: CheckoutHead, open: () => Promise<GitRepository>): DataGit {
  return {
    facts: { root: look.root, headBranch: look.headBranch },
    // A fleet's project is read through its backend.
    sharedRemote: null,
    readRef: async (ref) => {
      const sha = look.readRef(ref);
      return sha === undefined ? (await open()).readRef(ref) : sha;
    },
    isAncestor: async (ancestor, descendant) => (await open()).isAncestor(ancestor, descendant),
    resolve: async (revision) => (await open()).resolve(revision),
    diff: async (from, to) => (await open()).diff(from, to),
    listSnapshots: async (id, bases) => (await open()).listSnapshots(id, bases),
    sizeOfChange: async (from, to) => (await open()).sizeOfChange(from, to),
    changedFiles: async (from, to) => (await open()).changedFiles(from, to),
    fileAt: async (commit, path, bytesMax) => (await open()).fileAt(commit, path, bytesMax),
    merge: async (request) => (await open()).merge(request),
  };
}
