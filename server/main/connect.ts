// How a command reaches its project: a running backend, one started for it, or the same handlers in
// its own process.

import { accessSync, constants, existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerRuntimeRequest } from '../core/settings/worker-runtime.ts';
import { secretValues } from '../agents/kit/process/environment.ts';
import { createMask } from '../agents/kit/log/masking.ts';
import { Refusal, type Result } from '../core/failure.ts';
import type { Answer, Client, Params, StatusSnapshot } from '../protocol/api.ts';
import type { SpecPlanView } from '../protocol/spec-plan.ts';
import type { RunningWeb, WebRequest } from '../protocol/web/wire.ts';
import type { WorkerOptions } from '../protocol/worker-notes.ts';
import type { BackendOptions } from './backend.ts';
import type { DoctorRequest } from '../doctor/check.ts';
import type { Doctor } from '../doctor/doctor.ts';
import type * as FleetDatabase from '../fleet/fleet-database.ts';
import type { InitResult } from '../project/init.ts';
import type { Environment, SettingFlags } from '../project/live-settings.ts';
import { maskRequest } from './served-handlers.ts';
import type { MigrateOptions, MigrateReport } from '../fleet/migrate.ts';
import { tokensIn } from '../core/forge/tokens.ts';
import { projectFolderName, runningAddress } from '../project/project-places.ts';
import type { PlanFromSpecOptions } from '../planning/plan-from-spec.ts';
import type { ProbeView } from '../confinement/probe-confinement.ts';
import type * as RemoteWorkers from '../remote/remote-workers.ts';
import type { SqlforgeProject } from '../agents/drover-code/sqlforge-project.ts';
import type { TrustReport } from '../protocol/trust-report.ts';
import type { TrustRequest } from '../project/trust.ts';

export { findProject } from '../project/project-places.ts';

// Loads only what a command needs: no engine to read the plan, no database if a backend answers, no
// socket client if none does.

export async function doctor(root: string | null, request?: DoctorRequest): Promise<Doctor> {
  return await (await import('../doctor/doctor.ts')).doctor(root, request);
}

export async function probeConfinement(root: string): Promise<readonly ProbeView[]> {
  return await (await import('../confinement/probe-confinement.ts')).probeConfinement(root);
}

export async function trustSettings(request: TrustRequest): Promise<TrustReport> {
  const report = await (await import('../project/trust.ts')).trustSettings(request);
  // A running backend reads them now: it may have something to send.
  const running = request.accept ? await connectRunning(request.root).catch(() => null) : null;
  await running?.call('status', {});
  running?.close();
  return report;
}

export const listRemote: typeof RemoteWorkers.listRemote = async (request) =>
  (await import('../remote/remote-workers.ts')).listRemote(request);

export const previewRemote: typeof RemoteWorkers.previewRemote = async (request) =>
  (await import('../remote/remote-workers.ts')).previewRemote(request);

export const testRemote: typeof RemoteWorkers.testRemote = async (request, accept) =>
  (await import('../remote/remote-workers.ts')).testRemote(request, accept);

export const destroyRemote: typeof RemoteWorkers.destroyRemote = async (request, name, force) =>
  (await import('../remote/remote-workers.ts')).destroyRemote(request, name, force);

export async function initProject(folder: string, env: Environment): Promise<InitResult> {
  return await (await import('../project/init.ts')).initProject(folder, env);
}

export async function openSqlforge(from: string, env: NodeJS.ProcessEnv): Promise<SqlforgeProject> {
  return (await import('../agents/drover-code/sqlforge-project.ts')).openSqlforge(from, env);
}

export async function startWeb(request: WebRequest): Promise<RunningWeb> {
  const { env } = request;
  const open = async (root: string, device?: string): Promise<Client> => {
    const named = device === undefined ? {} : { device };
    const client = await openClient({ root, need: 'engine', env, settingsFlags: {}, ...named });
    if (client === null) throw new Refusal('backend', 'The backend could not be started.');
    return client;
  };
  return await (await import('../web/start-web.ts')).startWeb({ ...request, openClient: open });
}

export async function runBackend(options: BackendOptions): Promise<void> {
  await (await import('./backend.ts')).runBackend(options);
}

export async function runWorker(wanted: WorkerOptions): Promise<void> {
  await (await import('./worker.ts')).runWorker(wanted);
}

export async function runWorkerRuntime(request: WorkerRuntimeRequest): Promise<void> {
  await (await import('../remote/worker-runtime.ts')).runWorkerRuntime(request);
}

export const prepareFleet: typeof FleetDatabase.prepareFleet = async (request) =>
  (await import('../fleet/fleet-database.ts')).prepareFleet(request);

export const grantFleet: typeof FleetDatabase.grantFleet = async (request) =>
  (await import('../fleet/fleet-database.ts')).grantFleet(request);

export async function planFromSpec(options: PlanFromSpecOptions): Promise<Result<SpecPlanView>> {
  return await (await import('../planning/plan-from-spec.ts')).planFromSpec(options);
}

export async function migrateProject(options: MigrateOptions): Promise<MigrateReport> {
  return await (await import('../fleet/migrate.ts')).migrateProject(options);
}

export interface OpenClientOptions {
  readonly root: string;
  readonly need: 'data' | 'engine' | 'existing';
  readonly env: NodeJS.ProcessEnv;
  readonly settingsFlags: Record<string, unknown>;
  /** The browser that a person uses. */
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
  // forbid: nothing is written before that is known.
  const folder = lstatSync(join(options.root, projectFolderName), { throwIfNoEntry: false });
  if (folder?.isSymbolicLink() === true) (await openLocal(options)).close();
  await refuseUnreadableSettings(options);
  try {
    return await startBackend(options, () => connectRunning(options.root, options.device));
  } catch (error) {
    // With a full disk, a backend that cannot start cannot report it: so it is checked here.
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
    const [problem] = (await LiveSettings.load(root, env, {})).loaded.problems;
    if (problem !== undefined) throw new Refusal('bad_configuration', problem.message);
  }
}

/** The running backend, or null. An older one that exits counts as not running. */
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

/** Waits up to 30 s for the backend of a project to end. Returns whether it has. */
export async function untilStopped(root: string): Promise<boolean> {
  const { LiveSettings } = await import('../project/live-settings.ts');
  const { placesOf } = await import('../project/project-places.ts');
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

/**
 * Runs get the caller's environment: the backend decides what agents may see of it. Its secrets are
 * removed from everything else.
 */
function withEnvironment(client: Client, options: OpenClientOptions): Client {
  const { env } = options;
  const given = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return {
    call: async (name, params) => {
      // Who starts something in the backend asks for tasks alone, and loads no settings for it.
      if (name === 'status' && options.need !== 'engine') {
        const snapshot = await client.call('status', params as Params<'status'>);
        return (await withOwnSettings(snapshot, options)) as Answer<typeof name>;
      }
      if (name === 'issues.plan') {
        const signedIn = { ...(params as Params<'issues.plan'>), env: tokensIn(given) };
        return client.call(name, signedIn as typeof params);
      }
      if (name !== 'run.start' && name !== 'run.resume')
        return client.call(
          name,
          maskRequest(name, params, () => createMask(secretValues(env))),
        );
      const more = { ...(params as Params<'run.start'>), env: given };
      return client.call(name, more as typeof params);
    },
    follow: (after, onEvents, onEnd) => client.follow(after, onEvents, onEnd),
    close: () => client.close(),
  };
}

/**
 * While nothing runs, the settings are those that a run would start with here; flags of the last
 * run do not change.
 */
async function withOwnSettings(
  snapshot: StatusSnapshot,
  { root, env }: OpenClientOptions,
): Promise<StatusSnapshot> {
  if (snapshot.run?.active === true) return snapshot;
  const { LiveSettings } = await import('../project/live-settings.ts');
  const { shownSettings } = await import('../core/settings/settings-resolve.ts');
  const { heldViews } = await import('../project/accepted-settings.ts');
  const { maskOf } = await import('../project/secrets.ts');
  const { maskDeep } = await import('../agents/kit/log/masking.ts');
  const live = await LiveSettings.load(root, env as Environment, {});
  const ofFlags = Object.entries(snapshot.config).filter(([, { source }]) => source === 'flag');
  const all = { ...shownSettings(live.loaded), ...Object.fromEntries(ofFlags) };
  const config = maskDeep(all, maskOf(live));
  const { unaccepted: _, ...rest } = snapshot;
  const unaccepted = heldViews(live.held);
  return { ...rest, config, ...(unaccepted.length > 0 && { unaccepted }) };
}

async function openLocal(options: OpenClientOptions): Promise<Client> {
  const { openDataProject } = await import('./data-project.ts');
  const { dataOnlyHandlers, feedOf } = await import('./data-handlers.ts');
  const { localClient } = await import('../rpc/transport/local.ts');
  const project = await openDataProject(
    options.root,
    options.env as Environment,
    options.settingsFlags as SettingFlags,
  );
  return localClient(dataOnlyHandlers(project), feedOf(project.store), () => {
    void project.close();
  });
}
