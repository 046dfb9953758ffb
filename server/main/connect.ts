// Connects a command to its project: through a running backend, through one started for it, or with
// the same handlers in its own process.

import { accessSync, constants, existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { secretValues } from '../agents/kit/process/environment.ts';
import { createMask } from '../agents/kit/log/masking.ts';
import { Refusal } from '../core/failure.ts';
import type { Answer, Client, Params, StatusSnapshot } from '../protocol/api.ts';
import type { RunningWeb, WebRequest } from '../protocol/web/wire.ts';
import type { Environment, SettingFlags } from '../project/live-settings.ts';
import { maskRequest } from './served-handlers.ts';
import { tokensIn } from '../core/forge/tokens.ts';
import { projectFolderName, runningAddress } from '../project/project-places.ts';
import type { TrustReport } from '../protocol/trust-report.ts';
import type { TrustRequest } from '../project/trust.ts';

export { findProject } from '../project/project-places.ts';

// Loads only the parts that a command needs: no engine to read the plan, no database if a backend
// responds, no socket client if none does.

/** A function of a module that is loaded at its first call. */
function late<Args extends unknown[], Answer>(
  load: () => Promise<(...args: Args) => Promise<Answer>>,
): (...args: Args) => Promise<Answer> {
  return async (...args) => await (await load())(...args);
}

const remote = async () => await import('../remote/remote-workers.ts');
const fleetDatabase = async () => await import('../fleet/fleet-database.ts');

export const doctor = late(async () => (await import('../doctor/doctor.ts')).doctor);
export const probeConfinement = late(
  async () => (await import('../confinement/probe-confinement.ts')).probeConfinement,
);
export const listRemote = late(async () => (await remote()).listRemote);
export const previewRemote = late(async () => (await remote()).previewRemote);
export const testRemote = late(async () => (await remote()).testRemote);
export const destroyRemote = late(async () => (await remote()).destroyRemote);
export const initProject = late(async () => (await import('../project/init.ts')).initProject);
export const openSqlforge = late(async () => {
  const { openSqlforge: open } = await import('../agents/drover-code/sqlforge-project.ts');
  return async (from: string, env: NodeJS.ProcessEnv) => open(from, env);
});
export const runBackend = late(async () => (await import('./backend.ts')).runBackend);
export const runWorker = late(async () => (await import('./worker.ts')).runWorker);
export const runWorkerRuntime = late(
  async () => (await import('../remote/worker-runtime.ts')).runWorkerRuntime,
);
export const prepareFleet = late(async () => (await fleetDatabase()).prepareFleet);
export const grantFleet = late(async () => (await fleetDatabase()).grantFleet);
export const planFromSpec = late(
  async () => (await import('../planning/plan-from-spec.ts')).planFromSpec,
);
export const migrateProject = late(
  async () => (await import('../fleet/migrate.ts')).migrateProject,
);

export async function trustSettings(request: TrustRequest): Promise<TrustReport> {
  const report = await (await import('../project/trust.ts')).trustSettings(request);
  // A running backend reads them now, because it may have something to send.
  const running = request.accept ? await connectRunning(request.root).catch(() => null) : null;
  await running?.call('status', {});
  running?.close();
  return report;
}

export async function startWeb(request: WebRequest): Promise<RunningWeb> {
  const { env } = request;
  const open = async (root: string, device?: string): Promise<Client> => {
    const named = device === undefined ? {} : { device };
    const client = await openClient({ root, need: 'engine', env, settingsFlags: {}, ...named });
    if (client === null) throw new Refusal('backend', 'The backend could not be started.');
    return client;
  };
  const { thisPlatform } = await import('../platform/this-platform.ts');
  return await (
    await import('../web/start-web.ts')
  ).startWeb({
    ...request,
    openClient: open,
    isOtherUser: (from, to) => {
      const user = thisPlatform.connectionUser(from, to);
      return ![null, 0, process.getuid?.()].includes(user);
    },
  });
}

export interface OpenClientOptions {
  readonly root: string;
  readonly need: 'data' | 'engine' | 'existing';
  readonly env: NodeJS.ProcessEnv;
  readonly settingsFlags: Record<string, unknown>;
  /** The user's browser. */
  readonly device?: string;
}

export async function openClient(options: OpenClientOptions): Promise<Client | null> {
  const running = await connectRunning(options.root, options.device);
  if (running !== null) return withEnvironment(running, options);
  switch (options.need) {
    case 'existing':
      return null;
    case 'engine':
      return withEnvironment(await startOne(options), options);
    case 'data':
      return openLocal(options);
  }
}

async function startOne(options: OpenClientOptions): Promise<Client> {
  const { startBackend } = await import('./start-backend.ts');
  // A clone may have brought the link, and without readable settings it is unknown what they
  // forbid. Nothing may be written before.
  const folder = lstatSync(join(options.root, projectFolderName), { throwIfNoEntry: false });
  if (folder?.isSymbolicLink() === true) (await openLocal(options)).close();
  await refuseUnreadableSettings(options);
  try {
    return await startBackend(options, () => connectRunning(options.root, options.device));
  } catch (error) {
    // If the disk is full, a backend cannot start and cannot report it, so it is checked here.
    if (error instanceof Refusal && error.kind === 'backend') (await openLocal(options)).close();
    throw error;
  }
}

async function refuseUnreadableSettings({ root, env }: OpenClientOptions): Promise<void> {
  const file = join(root, '.drover.toml');
  try {
    if (existsSync(file)) accessSync(file, constants.R_OK);
  } catch {
    const { LiveSettings } = await import('../project/live-settings.ts');
    await LiveSettings.loadValid(root, env);
  }
}

/** Returns the running backend, or null. An older one that exits counts as not running. */
export async function connectRunning(root: string, device?: string): Promise<Client | null> {
  const address = runningAddress(root);
  if (address === null) return null;
  const { connectSocket, ConnectFailure } = await import('./wire.ts');
  try {
    return await connectSocket(address, device === undefined ? {} : { device });
  } catch (error) {
    if (
      error instanceof ConnectFailure &&
      (error.kind === 'unreachable' || error.kind === 'leaving')
    )
      return null;
    throw error instanceof ConnectFailure ? new Refusal('backend', error.message) : error;
  }
}

/** Waits up to 30 s for a project's backend to exit. Returns whether it has. */
export async function untilStopped(root: string): Promise<boolean> {
  const { LiveSettings } = await import('../project/live-settings.ts');
  const { projectPlaces: placesOf } = await import('../project/project-places.ts');
  const { acquireExclusive } = await import('../store/sqlite/exclusive.ts');
  const live = await LiveSettings.load(root, {}, {});
  const { lock: path } = placesOf(root, live.settings.databasePath);
  for (let waitedMs = 0; waitedMs < stopWaitMs; waitedMs += stopLookMs) {
    const lock = acquireExclusive(path);
    lock?.release();
    if (lock !== null) return true;
    await delay(stopLookMs);
  }
  return false;
}

const stopWaitMs = 30_000;
const stopLookMs = 50;

type Given = Readonly<Record<string, string>>;

const definedIn = (env: NodeJS.ProcessEnv): Given =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

/** The part of the caller's environment that these requests include. */
const sentEnvironment: { readonly [name: string]: (env: NodeJS.ProcessEnv) => Given } = {
  'run.start': definedIn,
  'run.resume': definedIn,
  'issues.plan': tokensIn,
};

/**
 * Runs get the caller's environment. The backend decides which variables agents may see, and masks
 * its secrets in all other requests.
 */
function withEnvironment(client: Client, options: OpenClientOptions): Client {
  const { env } = options;
  return {
    call: async (name, params) => {
      // A command that starts something in the backend only reads tasks, so no settings are loaded
      // for it.
      if (name === 'status' && options.need !== 'engine') {
        const snapshot = await client.call('status', params as Params<'status'>);
        return (await withOwnSettings(snapshot, options)) as Answer<typeof name>;
      }
      const given = sentEnvironment[name]?.(env);
      if (given !== undefined)
        return client.call(name, { ...(params as object), env: given } as never);
      return client.call(
        name,
        maskRequest(name, params, () => createMask(secretValues(env))),
      );
    },
    follow: (after, onEvents, onEnd) => client.follow(after, onEvents, onEnd),
    close: () => client.close(),
  };
}

/**
 * While no run is active, these are the settings that a run started here would use. Flags of the
 * last run do not change them.
 */
async function withOwnSettings(
  snapshot: StatusSnapshot,
  { root, env }: OpenClientOptions,
): Promise<StatusSnapshot> {
  if (snapshot.run?.active === true) return snapshot;
  const { LiveSettings } = await import('../project/live-settings.ts');
  const { shownSettings } = await import('../core/settings/settings-resolve.ts');
  const { heldViews } = await import('../project/accepted-settings.ts');
  const { secretMask } = await import('../project/secrets.ts');
  const { maskDeep } = await import('../agents/kit/log/masking.ts');
  const live = await LiveSettings.load(root, env as Environment, {});
  const ofFlags = Object.entries(snapshot.config).filter(([, { source }]) => source === 'flag');
  const all = { ...shownSettings(live.loaded), ...Object.fromEntries(ofFlags) };
  const config = maskDeep(all, secretMask(live));
  const { unaccepted: _, ...rest } = snapshot;
  const unaccepted = heldViews(live.held);
  return { ...rest, config, ...(unaccepted.length > 0 && { unaccepted }) };
}

async function openLocal(options: OpenClientOptions): Promise<Client> {
  const { openDataProject } = await import('./data-project.ts');
  const { dataOnlyHandlers, storeFeed } = await import('./data-handlers.ts');
  const { localClient } = await import('../rpc/transport/local.ts');
  const project = await openDataProject(
    options.root,
    options.env as Environment,
    options.settingsFlags as SettingFlags,
  );
  return localClient(dataOnlyHandlers(project), storeFeed(project.store), () => {
    void project.close();
  });
}
