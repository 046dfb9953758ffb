// Composition by hand: every part of the engine is made here and given to those that need it.

import { randomBytes, randomUUID } from 'node:crypto';
import {
  createDriver,
  agentEnvironment,
  secretValues,
  type DriverDeps,
} from '../agents/drivers.ts';
import { createMask, type Mask } from '../agents/masking.ts';
import type { AgentDriver, AgentKind } from '../agents/port.ts';
import { createProcessTable } from '../agents/process-table.ts';
import { runShellCommand } from '../agents/shell-command.ts';
import { agentChoices } from '../core/agent-settings.ts';
import { Refusal } from '../core/failure.ts';
import type { Settings } from '../core/settings.ts';
import { createEmbeddedDurable } from '../durable/embedded/embedded.ts';
import { isProcessAlive, processIdentity } from '../durable/embedded/process-identity.ts';
import { systemClock } from '../durable/embedded/system-clock.ts';
import type { Durable } from '../durable/port.ts';
import { openGitAdapter } from '../git/adapter.ts';
import type { GitRepository } from '../git/port.ts';
import { droverVersion } from '../protocol/version.ts';
import { openStore } from '../store/open.ts';
import type { Store, Tx } from '../store/port.ts';
import { createEngine, type Engine, type WorkSettings } from '../workflows/engine.ts';
import { AgentToolTokens } from './agent-tools.ts';
import { refuseFileOfFleet } from './fleet-note.ts';
import { type Environment, LiveSettings, type SettingFlags } from './live-settings.ts';
import { createHelperProcess, type HelperProcess } from './helper-process.ts';
import { machineFacts } from './machine-facts.ts';
import { type AgentOutput, noOutput } from './output/agent-output.ts';
import { placesOf, type ProjectPlaces, worktreesOf } from './places.ts';
import { workFiles } from './work-files.ts';

export const storeSources = {
  clock: systemClock,
  uuid: () => randomUUID(),
  random: (bytes: number) => new Uint8Array(randomBytes(bytes)),
};

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
  } | null;
  readonly places: ProjectPlaces;
  readonly live: LiveSettings;
  readonly store: Store;
  readonly git: GitRepository;
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
  options: { readonly thorough: boolean; readonly report?: Report } = { thorough: false },
): Promise<Project> {
  const live = await LiveSettings.load(root, environment, flags);
  // Any other wrong value stops a run only; with this one a plan would silently go into another database.
  const elsewhere = live.loaded.problems.find((problem) => problem.key === 'database');
  if (elsewhere !== undefined) throw new Refusal('bad_configuration', elsewhere.message);
  const places = placesOf(root, live.settings.databasePath);
  const helper = createHelperProcess();
  const opened = await openGitAdapter({ elsewhere: helper.runGit }).open(root);
  if (!opened.ok) throw new Refusal(opened.error.kind, opened.error.message);
  const local = opened.value;
  const url = live.settings.fleetDatabaseUrl;
  if (url !== null) {
    const { openFleetProject } = await import('./fleet.ts');
    const { remote } = live.settings.fleet;
    const report = options.report ?? ((): void => {});
    const opening = openFleetProject(url, places, remote, local, report);
    const { shown, checkRemote, close, ...parts } = await opening;
    const closeAll = async (): Promise<void> => {
      await close();
      helper.close();
    };
    return { ...parts, fleet: { url, shown, checkRemote }, places, live, helper, close: closeAll };
  }
  refuseFileOfFleet(places);
  const storeOptions = { thorough: options.thorough, durability: 'grouped' } as const;
  const store = await openStore(places.database, storeSources, storeOptions);
  const close = async (): Promise<void> => {
    await store.close();
    helper.close();
  };
  const parts = { places, live, store: store.store, git: local, helper, close };
  return { machineId: '', fleet: null, output: noOutput, ...parts };
}

/** What must never be stored: secret values of the environment, and those that only the agent is given. */
function secretsOf(live: LiveSettings): string[] {
  return [...secretValues(live.environment), ...secretValues(live.settings.agent.env)];
}

export function maskOf(live: LiveSettings): Mask {
  return createMask(secretsOf(live));
}

export interface HostDurable {
  readonly durable: Durable<Tx> & { forget(olderThanMs: number): Promise<number> };
  close(): Promise<void>;
}

export interface EngineHost {
  readonly engine: Engine;
  readonly durable: HostDurable['durable'];
  /** Stops the work; what did not end stays for whoever comes next. */
  readonly close: () => Promise<void>;
  readonly agentTokens: AgentToolTokens;
}

type Report = (error: unknown, where: string) => void;

export async function composeEngine(project: Project, report: Report): Promise<EngineHost> {
  const { live, store, git, places } = project;
  const processes = createProcessTable();
  const crash = crashPoint(live);
  const opened = await openDurable(project, crash, report);
  project.output.beginShipping(report);
  const { durable } = opened;
  const drivers = new Map<string, AgentDriver>();
  const driverDeps = {
    processTable: processes,
    baseDir: places.root,
    version: droverVersion,
    trusted: true,
    elsewhere: project.helper.spawnAgent,
  };
  const agentTokens = new AgentToolTokens(places.root, () => live.settings.agent.tools);
  const secrets = (): string[] => secretsOf(live);
  const mask = (text: string): string => maskOf(live)(text);
  const engine = createEngine({
    machineId: project.machineId,
    store,
    durable,
    git,
    clock: systemClock,
    processes,
    commands: {
      run: (request, signal) =>
        runShellCommand({ ...request, secrets: secrets() }, processes, signal),
    },
    agentTools: agentTokens,
    files: workFiles,
    storeOutput: (logPath) => project.output.flush(logPath),
    places: {
      root: places.root,
      worktrees: worktreesOf(places.root, live.settings.worktreeRoot),
      logs: places.logs,
    },
    settings: () => workSettings(live.settings),
    useRun: (run) => live.useFlags(run.flags, report),
    isPassing: (error) => error instanceof Refusal && error.kind === 'database',
    driverFor: (kind, model) => driverFor(drivers, live, { kind, model }, driverDeps),
    agentEnvironment: (kind) =>
      agentEnvironment(
        live.environment,
        kind as AgentKind,
        live.settings.agent.env,
        live.settings.envAllow,
      ),
    commandEnvironment: () => plainEnvironment(live.environment),
    secrets,
    mask,
    // In a fleet each machine says for itself what it can bear.
    machine:
      project.fleet === null
        ? machineFacts(worktreesOf(places.root, live.settings.worktreeRoot))
        : () => null,
    owner: project.fleet === null ? `${process.pid}` : live.settings.fleet.name,
    crashPoint: crash,
    chance: Math.random,
    report,
  });
  return { engine, durable, close: () => opened.close(), agentTokens };
}

async function openDurable(
  project: Project,
  crash: (step: string) => void,
  report: Report,
): Promise<HostDurable> {
  const { store, fleet } = project;
  if (fleet !== null) {
    const { openFleetDurable } = await import('./fleet.ts');
    return openFleetDurable(fleet.url, project, crash, report);
  }
  const durable = createEmbeddedDurable({
    db: store.db as never,
    clock: systemClock,
    processId: processIdentity(),
    isProcessAlive,
    leaseMs: 15_000,
    crashPoint: (_workflow, step) => {
      store.feed.poke();
      crash(step);
    },
    onTrouble: (error) => report(error, 'the durable engine'),
  }) as unknown as HostDurable['durable'];
  return { durable, close: () => durable.close() };
}

function driverFor(
  drivers: Map<string, AgentDriver>,
  live: LiveSettings,
  wanted: { readonly kind: string; readonly model: string | null | undefined },
  deps: DriverDeps,
): AgentDriver {
  const { agent, agents } = live.settings;
  const kind = wanted.kind as AgentKind;
  // What is said of the agent in general is meant for the kind that stands beside it.
  const own = agent.kind === kind ? agent : { ...agent, path: null, args: [], model: null };
  const mode = agent.kind === kind ? agent.permissionMode : null;
  const alone = agents[kind] ?? {};
  const settings = {
    kind,
    path: own.path ?? alone.path ?? null,
    args: own.args.length > 0 ? own.args : (alone.args ?? []),
    env: agent.env,
    model: wanted.model ?? own.model ?? alone.model ?? null,
    permissionMode: mode ?? alone.permission_mode ?? null,
  };
  const key = JSON.stringify([settings, live.environment['PATH']]);
  const known = drivers.get(key);
  if (known !== undefined) return known;
  const made = createDriver(settings, deps);
  drivers.set(key, made);
  return made;
}

/**
 * The repository's own commands run as if the person had typed them: with the person's environment. That an editor runs
 * this backend as plain Node is no matter of theirs.
 */
function plainEnvironment(environment: Environment): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const isOurs =
      name.startsWith('DROVER_TEST') ||
      name === 'ELECTRON_RUN_AS_NODE' ||
      // Tests of a program that uses DBOS would otherwise work on the fleet's own database.
      name === 'DBOS_SYSTEM_DATABASE_URL';
    if (value !== undefined && !isOurs) plain[name] = value;
  }
  return plain;
}

function workSettings(settings: Settings): WorkSettings {
  return {
    agentKind: settings.agent.kind,
    agents: agentChoices(settings.agent, settings.agents),
    bestOf: settings.bestOf,
    choose: settings.choose,
    plansFirst: settings.plansFirst,
    workers: settings.maxWorkers,
    target: settings.land.target,
    land: settings.land.mode,
    gateCommand: settings.gate.command,
    gateTimeoutMs: settings.gate.timeoutMs,
    setupCommand: settings.setup.command,
    setupTimeoutMs: settings.setup.timeoutMs,
    setupInputs: settings.setup.inputs,
    copyIgnored: settings.setup.copy,
    keepIgnored: settings.worktree.keepIgnored,
    sparse: settings.worktree.sparse,
    portsPerTask: settings.worktree.portsPerTask,
    runHooks: settings.commit.runHooks,
    follow: settings.checkout.follow,
    maxCommitFileSize: settings.maxCommitFileBytes,
    maxOutputBytes: settings.maxOutputBytes,
    taskTimeoutMs: settings.taskTimeoutMs,
    guidelines: settings.guidelines,
    taskContextCount: settings.taskContextCount,
    taskContextMaxAgeMs: settings.taskContextMaxAgeMs,
    maxDescriptionBytes: settings.maxDescriptionBytes,
    budget: settings.budget,
    machine: settings.machine,
  };
}

/** The crash hook of the command's contract: this process ends itself right after the named step is stored. */
function crashPoint(live: LiveSettings): (step: string) => void {
  return (step) => {
    if (live.environment['DROVER_TEST'] !== '1') return;
    const wanted = live.environment['DROVER_TEST_CRASH_AT'];
    if (wanted !== undefined && wanted !== '' && step.split(':', 1)[0] === wanted)
      process.kill(process.pid, 'SIGKILL');
  };
}
