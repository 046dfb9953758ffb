// The backend: one per repository, which a lock that ends with its process ensures. Clients reach
// it over a private socket.

import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { processStartTime } from '../agents/kit/process/process-list.ts';
import { Refusal } from '../core/failure.ts';
import { replaceFile } from '../files/write-whole.ts';
import { type BackendAddress, protocolVersion } from '../protocol/api.ts';
import { droverVersion } from '../protocol/version.ts';
import type { WorkerOptions } from '../protocol/worker-notes.ts';
import { agentSocketPath, defaultSocketPath } from '../rpc/transport/address.ts';
import {
  type ServedSocket,
  serveSocket,
  type ServeSocketOptions,
  serveStreams,
} from '../rpc/transport/server.ts';
import { acquireExclusive } from '../store/sqlite/exclusive.ts';
import { writeBack } from '../store/sqlite/write-back.ts';
import { isIdle, launchEngine, stopRuns } from '../workflows/engine.ts';
import { Forecast } from '../workflows/run/forecast.ts';
import { LineTending } from '../workflows/run/tending.ts';
import { followFleetRequests } from '../workflows/kit/requests-from-fleet.ts';
import { agentDoor } from '../agent-tools/agent-tools.ts';
import { composeEngine, type EngineHost } from './compose.ts';
import { type SettingFlags } from '../project/live-settings.ts';
import { storeFeed } from './data-handlers.ts';
import { allHandlers } from './handlers.ts';
import { isPeerOfRun } from '../agents/kit/process/peers.ts';
import { MachinePulse } from '../fleet/machine-pulse.ts';
import { watchOwnFiles } from '../project/own-files.ts';
import { settleIdentity } from '../project/identity.ts';
import { keepPlan, makeHome } from '../project/kept-plan.ts';
import { projectMark } from '../project/project-mark.ts';
import { type ProjectPlaces, worktreesFolder } from '../project/project-places.ts';
import { openProject } from './open-project.ts';
import { secretMask } from '../project/secrets.ts';
import { tellTroubles } from '../fleet/worker-troubles.ts';
import { watchMachine } from '../fleet/watch-machine.ts';
import { proveEarly } from '../confinement/sandbox-state.ts';
import { thisPlatform } from '../platform/this-platform.ts';
import { KeepAwake } from '../upkeep/keep-awake.ts';
import { adoptWorktrees, startUpkeep } from '../upkeep/upkeep.ts';
import { exportTelemetry } from '../telemetry/export.ts';
import { ForgeWork } from '../forge-work/forge-work.ts';
import { registerProject } from '../web/known-projects.ts';
import { WebhookDelivery } from '../webhooks/deliver.ts';
import type { Project } from '../project/opened-project.ts';

export interface BackendOptions {
  readonly root: string;
  readonly socket?: string;
  readonly stdio?: boolean;
  /** If true, it does not exit when idle. */
  readonly staysIdle?: boolean;
  /** Set if it runs in the foreground for a fleet until it is stopped. */
  readonly worker?: WorkerOptions;
}

/** A longer log is moved away when the backend starts. One old log is kept. */
const logBytesMax = 4 * 1024 * 1024;
const idleLookMs = 1_000;

/**
 * Runs until it has been idle long enough, is asked to exit or gets a signal. Resolves when
 * everything is closed.
 */
export async function runBackend(options: BackendOptions): Promise<void> {
  const { worker: request } = options;
  const flags: SettingFlags = request?.flags ?? {};
  let report: (error: unknown, where: string) => void = () => {};
  const project = await openProject(options.root, process.env, flags, {
    opener: 'backend',
    // It may resume a run, for which only settings that a person accepted apply.
    view: request === undefined ? 'accepted' : 'offered',
    report: (error, where) => report(error, where),
    onSettings: ({ settings }) => proveEarly(settings.sandbox),
  });
  report = backendLog(project);
  if (request !== undefined) {
    const mask = (text: string): string => secretMask(project.live)(text);
    report = tellTroubles(report, request.tell, { mask, nowMs: () => Date.now() });
  }
  const lock = acquireBoth(project.places);
  if (lock === null) {
    await project.close();
    throw new Refusal(
      'already_running',
      `A backend is already running for ${options.root}. Run "drover doctor" to see it, or "drover server stop" to stop it.`,
    );
  }
  await claimPlan(project, () => lock.release());
  if (request !== undefined) await acceptForWorker(project, request);
  const host = await composeEngine(project, report);
  const life = new BackendLife(project, host, request !== undefined);
  const pulse = project.fleet === null ? null : new MachinePulse(project, host.engine);
  await project.fleet?.checkRemote();
  await pulse?.begin();
  await adoptWorktrees(project);
  await launchEngine(host.engine);
  const tended = [new LineTending(host.engine).begin(), new Forecast(host.engine).begin()];
  const stopHearing = followFleetRequests(host.engine);
  host.remote.begin();
  const telemetry = await exportTelemetry(project, report);
  const webhooks = await WebhookDelivery.begin(project, report);
  const forge = new ForgeWork(project, host, report);
  life.staysFor(() => options.staysIdle === true || webhooks.isBusy() || forge.isBusy());
  const served = await serve(project, host, life, webhooks, options);
  registerProject(process.env, options.root, report);
  const upkeep = startUpkeep(project, host.durable, report);
  const healing = setInterval(() => {
    served.heal().catch((error: unknown) => host.engine.report(error, 'listening again'));
  }, idleLookMs);
  const leave = (reason: string): void => life.leave(reason);
  const leaveUnused = (reason: string): void => life.leaveUnused(reason);
  const watched = { project, engine: host.engine, pulse, leave, leaveUnused };
  const endWatch = await watchMachine(watched, request);
  await life.over();
  if (life.isLost && project.fleet === null) await writeBack(project.store.db);
  clearInterval(healing);
  await upkeep.end();
  for (const each of tended) each.end();
  stopHearing();
  // If the folder was replaced, the address in it belongs to another backend.
  if (served.address !== null && !life.isLost) rmSync(project.places.address, { force: true });
  await Promise.all([webhooks.close(), forge.close()]);
  await telemetry.close();
  host.remote.close();
  await host.close();
  await pulse?.leave();
  await served.close(life.reason);
  await endWatch();
  // The git folder may contain the last remaining name of the database file, but none of its log.
  if (life.isLost && project.fleet === null) await writeBack(project.store.db);
  await project.close();
  lock.release();
}

/** Refuses to start on a plan of another repository. */
async function claimPlan(project: Project, release: () => void): Promise<void> {
  if (project.fleet !== null) return;
  const { places, store, live, local } = project;
  const worktrees = worktreesFolder(places.root, live.settings.worktreeRoot);
  try {
    const parts = { places, store, openLocal: async () => local };
    await settleIdentity(parts, (path) => dirname(path) === worktrees);
    keepPlan(places);
  } catch (error) {
    await project.close();
    release();
    throw error;
  }
}

/**
 * Locks both the project's folder and the repository, because neither a deleted folder nor another
 * worktree of the same repository may lead to a second engine. Returns null if another process has
 * one of the locks.
 */
function acquireBoth(places: ProjectPlaces): { readonly release: () => void } | null {
  const lock = acquireExclusive(places.lock);
  if (lock === null || places.home === null || !makeHome(places.home)) return lock;
  const ofRepository = acquireExclusive(places.home.lock);
  if (ofRepository === null) {
    lock.release();
    return null;
  }
  return {
    release: () => {
      lock.release();
      ofRepository.release();
    },
  };
}

/** Running `drover worker` accepts the settings, as `drover run` does. */
async function acceptForWorker({ live }: Project, { tell }: WorkerOptions): Promise<void> {
  for (const message of await live.use(live)) tell({ type: 'warning', at_ms: Date.now(), message });
}

/** The backend's lifetime: until it is idle long enough, or asked to exit. */
class BackendLife {
  readonly #project: Project;
  readonly #host: EngineHost;
  readonly #end = Promise.withResolvers<void>();
  /** Only the process that started it can stop it, and that process gets the signals too. */
  readonly #isWorker: boolean;
  #hasMore: () => boolean = () => false;
  #clients = 0;
  #idle = true;
  #idleSinceMs = Date.now();
  readonly #lostFile: () => string | null;
  isLost = false;
  reason = '';

  constructor(project: Project, host: EngineHost, isWorker: boolean) {
    this.#project = project;
    this.#host = host;
    this.#isWorker = isWorker;
    this.#lostFile = watchOwnFiles(project.places, project.fleet === null);
    if (isWorker) return;
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => this.leave(signal));
    }
  }

  leave(reason: string): void {
    if (this.reason === '') this.reason = reason;
    this.#end.resolve();
  }

  /** Exits unless clients are connected, because they would start another backend. */
  leaveUnused(reason: string): void {
    if (this.#clients === 0) this.leave(reason);
  }

  /** Adds a condition, besides tasks and clients, that keeps the backend running. */
  staysFor(hasMore: () => boolean): void {
    this.#hasMore = hasMore;
  }

  countClients(count: number): void {
    this.#clients = count;
    this.#idleSinceMs = Date.now();
  }

  /** Read now, because the state may have changed within the last second. */
  async isIdle(): Promise<boolean> {
    if (this.#isWorker) return false;
    await this.#look(true);
    return this.#idle;
  }

  async shutdown(force: boolean): Promise<{ leaving: boolean; reason: string }> {
    await this.#look(true);
    if (!this.#idle && !force) {
      return {
        leaving: false,
        reason: 'tasks are running; use --force to release them and stop it',
      };
    }
    // Otherwise a command that follows a run would start another backend to continue it. In a
    // fleet, other machines continue the runs.
    if (!this.#idle && this.#project.fleet === null) await stopRuns(this.#host.engine, null);
    setImmediate(() => this.leave('asked to leave'));
    return { leaving: true, reason: 'asked to leave' };
  }

  async over(): Promise<void> {
    const { report, switchboard } = this.#host.engine;
    const { live } = this.#project;
    const awake = new KeepAwake({
      start: thisPlatform.awakeStart,
      isNeeded: () => live.settings.backend.keepAwake && switchboard.isBusy,
    });
    const timer = setInterval(() => {
      this.#look().catch((error: unknown) => report(error, 'checking for running tasks'));
    }, idleLookMs);
    await this.#end.promise;
    clearInterval(timer);
    awake.end();
  }

  async #look(isAsked = false): Promise<void> {
    const lost = this.#lostFile();
    if (lost !== null) {
      this.#leaveLost(lost);
      return;
    }
    // It does not exit when idle, so it need not query the database.
    if ((this.#isWorker || this.#clients > 0) && !isAsked) return;
    this.#idle = await isIdle(this.#host.engine);
    if (this.#isWorker) return;
    if (!this.#idle || this.#clients > 0 || this.#hasMore()) this.#idleSinceMs = Date.now();
    const { idleTimeoutMs } = this.#project.live.settings.backend;
    if (Date.now() - this.#idleSinceMs >= idleTimeoutMs) this.leave('idle');
  }

  #leaveLost(path: string): void {
    if (this.isLost) return;
    this.isLost = true;
    const reason = `${path} was deleted, moved or replaced`;
    this.#host.engine.report(new Error(reason), 'leaving');
    this.leave(reason);
  }
}

interface Served {
  readonly address: BackendAddress | null;
  heal(): Promise<void>;
  close(reason: string): Promise<void>;
}

async function serve(
  project: Project,
  host: EngineHost,
  life: BackendLife,
  webhooks: WebhookDelivery,
  options: BackendOptions,
): Promise<Served> {
  const shared = {
    handlers: allHandlers(project, host, {
      onShutdown: (force) => life.shutdown(force),
      onWebhookRetry: () => webhooks.wake(),
    }),
    agents: agentDoor(project, host.engine, host.agentTokens),
    feed: storeFeed(project.store),
    version: droverVersion,
    root: options.root,
    isIdle: () => life.isIdle(),
    onLeaving: () => life.leave('a newer version takes over'),
    onClientCount: (count: number) => life.countClients(count),
  };
  const forAgents = await serveAgents(project, shared);
  const closeAll = (close: (reason: string) => Promise<void>) => async (reason: string) => {
    await forAgents?.close(reason);
    await close(reason);
  };
  if (options.stdio === true) {
    const streams = serveStreams({
      ...shared,
      input: process.stdin,
      output: process.stdout,
      onEnd: () => life.leave('the client disconnected'),
    });
    return {
      address: null,
      heal: async () => forAgents?.heal(),
      close: closeAll((reason) => streams.close(reason)),
    };
  }
  const address = newAddress(project, options.socket);
  const socket = await serveSocket({
    ...shared,
    path: address.socket,
    token: address.token,
    isOfRun: async (peer) =>
      !(await isIdle(host.engine)) && (await isPeerOfRun(peer, projectMark(project.places.root))),
  });
  replaceFile(project.places.address, JSON.stringify(address));
  return {
    address,
    heal: async () => {
      await socket.heal();
      await forAgents?.heal();
    },
    close: closeAll((reason) => socket.close(reason)),
  };
}

/**
 * Agents use a separate socket that accepts no owner's token, so every request on it comes from an
 * agent.
 */
async function serveAgents(
  project: Project,
  shared: Omit<ServeSocketOptions, 'path' | 'token'>,
): Promise<ServedSocket | null> {
  const path = agentSocketPath(project.git.facts.commonDir, process.env);
  if (path === null) return null;
  const token = randomBytes(32).toString('hex');
  const within = dirname(dirname(path));
  return serveSocket({ ...shared, path, within, token, onClientCount: () => {} });
}

function newAddress(project: Project, socket: string | undefined): BackendAddress {
  return {
    pid: process.pid,
    start_time: processStartTime(process.pid) ?? '',
    socket: socket ?? defaultSocketPath(project.git.facts.commonDir, process.env),
    token: randomBytes(32).toString('hex'),
    version: droverVersion,
    protocol: protocolVersion,
    root: project.places.root,
  };
}

function backendLog(project: Project): (error: unknown, where: string) => void {
  const path = project.places.backendLog;
  mkdirSync(dirname(path), { recursive: true });
  return (error, where) => {
    const words = error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error);
    try {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      if (size > logBytesMax) renameSync(path, `${path}.old`);
      appendFileSync(path, `${new Date().toISOString()} ${where}: ${words}\n`, { mode: 0o600 });
    } catch {
      // A log that cannot be written must not stop the work.
    }
  };
}
