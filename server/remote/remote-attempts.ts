// Runs agents on workers: makes a driver start another program, reads its result, and destroys
// workers whose followers have exited.

import { rmSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { providerVariables } from '../agents/kit/process/environment.ts';
import type { AgentDriver, AgentOutcome, AgentRequest, ProgramStart } from '../agents/port.ts';
import type { AgentKind } from '../core/plan/task.ts';
import { processStartTime } from '../agents/kit/process/process-list.ts';
import { err, failure, ok, type Result } from '../core/failure.ts';
import { reconcileLeases } from '../workers/client/destroy.ts';
import type { Lease } from '../workers/client/leases.ts';
import type { Provisioner } from '../workers/provisioners/port.ts';
import {
  remoteEndPath,
  readEnd,
  type RemoteSpec,
  remoteSpecPath,
  type WorkerSettings,
} from './remote-spec.ts';
import { openProvisioner, provisionerVariables } from './worker-provisioner.ts';
import { writeWhole } from '../files/write-whole.ts';
import { ownProgram } from '../project/own-program.ts';
import { MadeOnce } from '../core/made-once.ts';
import type { Project, Report } from '../project/opened-project.ts';

type Deps = Pick<Project, 'live' | 'places' | 'machineId'>;

/** Agents that can run with only their prompt. Others need input while they run. */
const runsRemotely: ReadonlySet<AgentKind> = new Set([
  'command',
  'claude',
  'codex',
  'drover-code',
  'amp',
]);

/** Folders and files of this machine have no meaning on another one. */
const isPlaceHere = (name: string): boolean => /_(DIR|HOME|PATH|FILE)$/.test(name);
const isSecretName = (name: string): boolean => /KEY|TOKEN|SECRET|PASSWORD/i.test(name);

/** Interval between searches for orphaned workers. */
const reconcileMs = 10 * 60_000;
/**
 * Time between the request to stop and killing the follower, in which it fetches the results and
 * destroys the worker.
 */
const endGraceMs = 12_000;

export class RemoteAttempts {
  readonly #deps: Deps;
  readonly #report: Report;
  readonly #drivers = new MadeOnce<AgentDriver, AgentDriver>();
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: Deps, report: Report) {
    this.#deps = deps;
    this.#report = report;
  }

  /** Wraps a driver so that attempts for a worker run there. */
  driver(driver: AgentDriver): AgentDriver {
    return this.#drivers.of(driver, () => ({
      ...driver,
      run: async (request, host, signal) => {
        if (request.runsOn !== 'remote') return await driver.run(request, host, signal);
        const refused = this.#refusal(driver.kind);
        if (refused !== null) {
          const reason = failure('worker_failed', refused);
          return { kind: 'failed', failure: { ...reason, retryable: false } };
        }
        // This machine's sandbox does not exist on the worker.
        const { tools: _tools, confinedHome: _home, ...rest } = request;
        const confine = (start: ProgramStart): Promise<Result<ProgramStart>> =>
          Promise.resolve(this.#remotely(driver.kind, request, start));
        rmSync(remoteEndPath(request.logPath), { force: true });
        const remote = { ...rest, confine, endGraceMs };
        return await this.#ended(request, await driver.run(remote, host, signal));
      },
      adopt: async (request, agent, host, signal) => {
        if (request.runsOn !== 'remote') return await driver.adopt(request, agent, host, signal);
        const remote = { ...request, endGraceMs };
        const outcome = await driver.adopt(remote, agent, host, signal);
        return outcome === null ? null : await this.#ended(request, outcome);
      },
    }));
  }

  /** Searches for orphaned workers now and at intervals. */
  begin(): void {
    const look = (): void => {
      this.reconcile().catch((error: unknown) => this.#report(error, 'looking for left workers'));
    };
    look();
    this.#timer = setInterval(look, reconcileMs);
    this.#timer.unref();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Destroys this clone's workers whose follower has certainly exited. */
  async reconcile(): Promise<void> {
    const { problems } = await reconcileLeases({
      leases: this.leases,
      owner: this.owner,
      isAlive: isFollowed,
      open: (lease) => this.#provisionerOf(lease),
    });
    for (const problem of problems) this.#report(new Error(problem), 'destroying left workers');
  }

  get folder(): string {
    return remoteFolder(this.#deps.places.folder);
  }

  get leases(): string {
    return join(this.folder, 'leases');
  }

  get #knownHosts(): string {
    return join(this.#deps.live.userFolder, 'ssh_known_hosts');
  }

  get owner(): string {
    return leaseOwner(this.#deps);
  }

  /** Returns null if the settings name no provisioner. */
  workerSettings(settings: 'used' | 'accepted' = 'used'): WorkerSettings | null {
    const { live } = this.#deps;
    const { remote } = settings === 'used' ? live.settings : live.accepted;
    if (remote.provisioner === null) return null;
    const { max: _max, labels: _labels, env: _env, agentPath: _agentPath, ...rest } = remote;
    const { provisioner, sshArgs } = remote;
    return { ...rest, provisioner, sshArgs: [...sshArgs] };
  }

  open(settings: WorkerSettings): Provisioner {
    return openProvisioner(settings, {
      projectRoot: this.#deps.places.root,
      folder: this.folder,
      knownHosts: this.#knownHosts,
      environment: { ...this.#deps.live.environment },
    });
  }

  /** A search uses the accepted settings, because no run asked for it. */
  #provisionerOf(lease: Lease): Provisioner | null {
    const settings = this.workerSettings('accepted');
    // A process on this machine is found without any settings.
    if (lease.provisioner !== 'process' && settings?.provisioner !== lease.provisioner) return null;
    const base = settings ?? { ...noWorkerSettings, provisioner: lease.provisioner };
    return this.open({ ...base, provisioner: lease.provisioner });
  }

  #refusal(kind: AgentKind): string | null {
    const { live } = this.#deps;
    const { remote, sandbox } = live.settings;
    if (remote.provisioner === null) {
      return 'The task must run on a remote worker, but nothing creates workers. Set [remote] provisioner.';
    }
    if (!runsRemotely.has(kind)) {
      return `Agent kind ${kind} cannot run on a remote worker: Drover talks to it while it runs. Use ${[...runsRemotely].slice(1).join(', ')}, or kind "command" with the program's own arguments (docs/remote.md).`;
    }
    if (remote.provisioner === 'hosted' && kind !== 'drover-code') {
      return `Hosted jobs run Drover Code. Set [agent] kind to "drover-code", or use another [remote] provisioner for ${kind}.`;
    }
    if (remote.provisioner === 'process' && sandbox.required) {
      return 'Workers by "process" run without a sandbox, and [sandbox] required is set. Use another provisioner.';
    }
    return null;
  }

  #remotely(kind: AgentKind, request: AgentRequest, start: ProgramStart): Result<ProgramStart> {
    const settings = this.workerSettings();
    if (settings === null) return err(failure('worker_failed', this.#refusal(kind) ?? ''));
    const { live, places } = this.#deps;
    const { remote, agent } = live.settings;
    const forwarded = new Set([...remote.env, ...Object.keys(agent.env)]);
    const provider = providerVariables(kind);
    const env = Object.keys({ ...start.env, ...live.environment }).filter(
      (name) =>
        settings.provisioner !== 'hosted' &&
        !provisionerVariables.includes(name) &&
        (forwarded.has(name) || (provider(name) && !isPlaceHere(name))),
    );
    // Variables that the driver sets belong to the way its agent is started.
    const isPlain = (name: string, value: string): boolean =>
      !isSecretName(name) && (name.startsWith('DROVER_') || request.env[name] !== value);
    const variables = Object.fromEntries(
      Object.entries(start.env).filter(
        ([name, value]) => !forwarded.has(name) && isPlain(name, value),
      ),
    );
    const spec: RemoteSpec = {
      run: request.runId,
      root: request.cwd,
      projectRoot: places.root,
      logPath: request.logPath,
      folder: this.folder,
      knownHosts: this.#knownHosts,
      owner: this.owner,
      program: this.#programThere(settings, start.program),
      args: [...start.args],
      env,
      variables,
      brings: { ...start.brings },
      remote: settings,
    };
    const path = remoteSpecPath(request.logPath);
    writeWhole(path, JSON.stringify(spec));
    return ok({
      program: process.execPath,
      args: [ownProgram('remote-attempt.cjs', 'remote-attempt'), path],
      env: { ...this.#followerVariables(settings, env), ...start.env },
    });
  }

  /**
   * A program of the repository is uploaded. Any other program is found by name, or at the same
   * path on this machine.
   */
  #programThere(settings: WorkerSettings, program: string): string {
    const { agentPath } = this.#deps.live.settings.remote;
    if (agentPath !== null) return agentPath;
    if (settings.provisioner === 'process') return program;
    const inside = relative(this.#deps.places.root, resolve(this.#deps.places.root, program));
    const isInside = program.includes('/') && !isAbsolute(inside) && !inside.startsWith('..');
    return isInside ? `./${inside}` : basename(program);
  }

  /** The follower's variables besides the agent's: for its provisioner, and to pass on. */
  #followerVariables(settings: WorkerSettings, env: readonly string[]): Record<string, string> {
    const { environment } = this.#deps.live;
    const isWanted = (name: string): boolean =>
      settings.provisioner === 'hook'
        ? !name.startsWith('DROVER_TEST') && name !== 'DBOS_SYSTEM_DATABASE_URL'
        : [...env, ...followerNames, settings.tokenVariable].includes(name);
    const found: Record<string, string> = {};
    for (const [name, value] of Object.entries(environment)) {
      if (value !== undefined && isWanted(name)) found[name] = value;
    }
    if ('electron' in process.versions) found['ELECTRON_RUN_AS_NODE'] = '1';
    return found;
  }

  /**
   * Adds a fact that the agent's driver cannot know: that the worker failed. Ensures that no worker
   * is left.
   */
  async #ended(request: AgentRequest, outcome: AgentOutcome): Promise<AgentOutcome> {
    await this.reconcile();
    const end = readEnd(request.logPath);
    if (outcome.kind === 'stopped') return outcome;
    rmSync(remoteSpecPath(request.logPath), { force: true });
    rmSync(remoteEndPath(request.logPath), { force: true });
    if (end === null && outcome.kind === 'failed' && outcome.failure.kind === 'agent_failed') {
      const message = 'The process that follows the remote worker was killed before it finished.';
      return { kind: 'failed', failure: failure('worker_failed', message) };
    }
    if (end?.kind !== 'failed') return outcome;
    const reason = failure('worker_failed', end.message);
    return { kind: 'failed', failure: { ...reason, retryable: end.retryable } };
  }
}

const followerNames = ['SSH_AUTH_SOCK', 'USER', 'LOGNAME', ...provisionerVariables];

const noWorkerSettings = {
  image: null,
  memoryBytes: null,
  socket: null,
  metro: null,
  ttlMs: 0,
  url: null,
  tokenVariable: '',
  gitRemote: null,
  host: null,
  sshArgs: [],
  hook: null,
  hookTimeoutMs: 60_000,
};

export function remoteFolder(projectFolder: string): string {
  return join(projectFolder, 'remote');
}

/**
 * Identifies this clone on this machine: the path distinguishes two clones, the machine's id two
 * machines.
 */
export function leaseOwner(deps: Pick<Project, 'places' | 'machineId'>): string {
  return `${deps.machineId === '' ? 'local' : deps.machineId}:${deps.places.root}`;
}

export function isFollowed(lease: Lease): boolean {
  return lease.pidStart !== '' && processStartTime(lease.pid) === lease.pidStart;
}
