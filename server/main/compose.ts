// Composition by hand: creates every part of the engine and passes it to the parts that need it.

import type { Clock } from '../durable/port.ts';
import { createDriver, type DriverDeps } from '../agents/drivers.ts';
import type { AgentDriver } from '../agents/port.ts';
import type { AgentKind } from '../core/plan/task.ts';
import { createProcessTable } from '../agents/kit/process/process-table.ts';
import type { ProcessTable } from '../agents/port.ts';
import { runShellCommand } from '../agents/kit/run/shell-command.ts';
import { agentChoices } from '../core/settings/agent-settings.ts';
import { Refusal } from '../core/failure.ts';
import type { Settings } from '../core/settings/settings.ts';
import { createEmbeddedDurable } from '../durable/embedded/embedded.ts';
import { isProcessAlive, processIdentity } from '../durable/embedded/process-identity.ts';
import { systemClock } from '../durable/embedded/system-clock.ts';
import { droverVersion } from '../protocol/version.ts';
import { createEngine } from '../workflows/engine.ts';
import { readCompatibility } from '../core/compatibility.ts';
import { AgentToolTokens } from '../agent-tools/agent-tools.ts';
import { Confinement } from '../confinement/confinement.ts';
import { allowedDriver } from '../confinement/allowed-driver.ts';
import { ProjectForge } from '../forge-work/forge-access.ts';
import type { LiveSettings } from '../project/live-settings.ts';
import { hostFacts } from '../platform/host-facts.ts';
import { worktreesFolder } from '../project/project-places.ts';
import { projectMark } from '../project/project-mark.ts';
import { RemoteAttempts } from '../remote/remote-attempts.ts';
import { secretMask, listSecretValues } from '../project/secrets.ts';
import { telemetryVariables } from '../telemetry/export.ts';
import { WorktreeUse } from '../upkeep/worktree-use.ts';
import { slotsOfMachine } from '../store/port.ts';
import { workFiles } from '../files/work-files.ts';
import type { Project, Report } from '../project/opened-project.ts';
import type { HostDurable } from '../fleet/host-durable.ts';
import { formatDuration } from '../core/format.ts';
import { AwakeClock } from '../platform/awake-clock.ts';
import { agentEnvironment, commandEnvironment } from '../agents/kit/process/environment.ts';
import type {
  Engine,
  EngineDeps,
  WorkPlaces,
  WorkSettings,
} from '../workflows/kit/engine-ports.ts';

export interface EngineHost {
  readonly forge: ProjectForge;
  readonly engine: Engine;
  readonly durable: HostDurable['durable'];
  /** Stops the work. Unfinished work is left for the next backend. */
  readonly close: () => Promise<void>;
  readonly agentTokens: AgentToolTokens;
  readonly confinement: Confinement;
  readonly remote: RemoteAttempts;
  /** The engine's values for settings other than those in force. */
  readonly engineWith: (
    live: LiveSettings,
  ) => Pick<Engine, 'settings' | 'driverFor' | 'agentEnvironment'>;
}

export async function composeEngine(project: Project, report: Report): Promise<EngineHost> {
  const { live, store, git, places } = project;
  const ours = workPlaces(project);
  const processes = createProcessTable();
  const crash = crashPoint(live);
  const awake = awakeClock(project, () => engine.switchboard.isBusy, report);
  const opened = await openDurable(project, crash, report);
  project.output.beginShipping(report);
  const drivers = new Map<string, AgentDriver>();
  const driverDeps = {
    processTable: processes,
    awake,
    baseDir: places.root,
    version: droverVersion,
    trusted: true,
  };
  const confinement = new Confinement(project, report);
  await confinement.takeBackLeftovers();
  const remote = new RemoteAttempts(project, report);
  const forge = new ProjectForge(project);
  const agentTokens = new AgentToolTokens(
    places.root,
    confinement.agentSocket,
    () => live.settings.agent.tools,
  );
  const engineWith = (of: LiveSettings): ReturnType<EngineHost['engineWith']> => ({
    settings: () => workSettings(of.settings),
    driverFor: (kind, model) =>
      confinement.driver(remote.driver(driverFor(drivers, of, { kind, model }, driverDeps))),
    agentEnvironment: environmentsOf(of).agentEnvironment,
  });
  const secrets = (): string[] => listSecretValues(live);
  const use = new WorktreeUse({
    folder: () => ours.worktrees,
    slots: () => slotsOfMachine(store.db, project.machineId),
    nowMs: () => store.sources.clock.now(),
  });
  const engine = createEngine({
    machineId: project.machineId,
    ...rolesOf(project),
    store,
    durable: opened.durable,
    git,
    forge,
    clock: withSleep(store.sources.clock, awake),
    processes,
    commands: commandsOf(confinement, secrets, processes, awake),
    agentTools: agentTokens,
    files: workFiles,
    storeOutput: (logPath) => project.output.flush(logPath),
    places: ours,
    useRun: (run) => live.useFlags(run.flags, report),
    isPassing: (error) => error instanceof Refusal && error.kind === 'database',
    ...environmentsOf(live),
    ...engineWith(live),
    secrets,
    mask: (text) => secretMask(live)(text),
    // In a fleet each machine reports its own capacity.
    worktreeBytes: () => use.bytes(),
    host: project.fleet === null ? () => hostFacts(ours.worktrees)() : () => null,
    owner: project.fleet === null ? `${process.pid}` : live.settings.fleet.name,
    crashPoint: crash,
    chance: Math.random,
    report,
  });
  return { ...opened, forge, engine, agentTokens, confinement, remote, engineWith };
}

/** A clock that appends an event if the host slept while agents or gates were running. */
function awakeClock(
  { store, fleet, live }: Project,
  isBusy: () => boolean,
  report: Report,
): AwakeClock {
  const tell = async (sleptMs: number): Promise<void> => {
    const machine = fleet === null ? {} : { machine: live.settings.fleet.name };
    const data = { ...machine, slept_ms: sleptMs, message: `slept ${formatDuration(sleptMs)}` };
    await store.transaction((tx) => store.append(tx, { type: 'machine.slept', data }));
  };
  const sources = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };
  return new AwakeClock(sources, (sleptMs) => {
    if (!isBusy()) return;
    tell(sleptMs).catch((error: unknown) => report(error, 'noting that the machine slept'));
  });
}

/**
 * The methods of a fleet's clock belong to its class, so copying its properties would lose them.
 */
function withSleep(clock: Clock, awake: AwakeClock): Clock {
  return {
    now: () => clock.now(),
    timer: (delayMs, callback) => clock.timer(delayMs, callback),
    awakeMs: awake.nowMs,
  };
}

/** Runs gates and setups in their sandbox. */
function commandsOf(
  confinement: Confinement,
  secrets: () => string[],
  processes: ProcessTable,
  awake: AwakeClock,
): EngineDeps['commands'] {
  return {
    run: (request, signal) =>
      confinement.command(request, (confined) =>
        runShellCommand({ ...confined, secrets: secrets() }, processes, signal, awake),
      ),
  };
}

function rolesOf({
  fleet,
  live,
}: Project): Pick<EngineDeps, 'compatibility' | 'knowsDead' | 'lands' | 'standBack'> {
  return {
    compatibility: {
      number: readCompatibility(live.environment),
      leads: () => fleet?.role.leads !== false,
    },
    lands: () => fleet?.role.lands !== false,
    standBack: (line) => fleet?.role.released.add(line),
    knowsDead: () => fleet?.role.knowsDead() !== false,
  };
}

function workPlaces({ places, live }: Project): WorkPlaces {
  return {
    root: places.root,
    // Read at each use, because the run that starts this backend may accept another folder.
    get worktrees() {
      return worktreesFolder(places.root, live.settings.worktreeRoot);
    },
    logs: places.logs,
    attachments: places.attachments,
    mark: projectMark(places.root),
  };
}

function environmentsOf(
  live: LiveSettings,
): Pick<Engine, 'agentEnvironment' | 'commandEnvironment'> {
  return {
    agentEnvironment: (kind, attempt) =>
      agentEnvironment(
        live.environment,
        kind as AgentKind,
        { ...telemetryVariables(live, kind, attempt), ...live.settings.agent.env },
        live.settings.envAllow,
      ),
    commandEnvironment: (of) =>
      commandEnvironment(live.environment, [
        ...live.settings.envAllow,
        ...live.settings[of].envAllow,
      ]),
  };
}

async function openDurable(
  project: Project,
  crash: (step: string) => void,
  report: Report,
): Promise<HostDurable> {
  const { store, fleet } = project;
  if (fleet !== null) {
    const { openFleetDurable } = await import('../fleet/fleet-durable.ts');
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
  // General agent settings apply only to the configured agent kind.
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
  const made = allowedDriver(createDriver(settings, deps));
  drivers.set(key, made);
  return made;
}

export function workSettings(settings: Settings): WorkSettings {
  return {
    agentKind: settings.agent.kind,
    agents: agentChoices(settings.agent, settings.agents),
    bestOf: settings.bestOf,
    choose: settings.choose,
    plansFirst: settings.plansFirst,
    workers: settings.maxWorkers,
    target: settings.land.target,
    land: settings.land.mode,
    forge: settings.forge,
    gateCommand: settings.gate.command,
    gateTimeoutMs: settings.gate.timeoutMs,
    gateKeeps: settings.gate.keep,
    gateParallel: settings.gate.parallel,
    gateNeeds: settings.gate.needs,
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
    protectedPaths: settings.protectedPaths,
    portableNames: settings.portableNames,
    linksAllowed: settings.linksAllowed,
    maxOutputBytes: settings.maxOutputBytes,
    taskTimeoutMs: settings.taskTimeoutMs,
    guidelines: settings.guidelines,
    taskContextCount: settings.taskContextCount,
    taskContextMaxAgeMs: settings.taskContextMaxAgeMs,
    noteCount: settings.noteCount,
    review: settings.review,
    notesKeptMs: settings.retention.notesMs,
    maxDescriptionBytes: settings.maxDescriptionBytes,
    budget: settings.budget,
    machine: settings.machine,
    runsOn: settings.runsOn,
    remoteLabels: settings.remote.labels,
    remoteMax: settings.remote.max,
    onForecast: settings.onForecast,
  };
}

/** A hook for crash tests: this process kills itself right after the named step is stored. */
function crashPoint(live: LiveSettings): (step: string) => void {
  return (step) => {
    if (live.environment['DROVER_TEST'] !== '1') return;
    const wanted = live.environment['DROVER_TEST_CRASH_AT'];
    if (wanted !== undefined && wanted !== '' && step.split(':', 1)[0] === wanted)
      process.kill(process.pid, 'SIGKILL');
  };
}
