// `drover doctor`: checks the programs of this machine and of the project, and reports missing ones
// with remedies. It changes nothing, starts no backend, and starts no program that the project
// contains or names.

import { gateTitle } from '../core/settings/gate-stages.ts';
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { compareVersions, testedVersion } from '../agents/claude/driver.ts';
import { agentEnvironment, commandEnvironment } from '../agents/kit/process/environment.ts';
import { type InventoryEntry, lookForAgents } from '../agents/inventory.ts';
import type { AgentKind } from '../core/plan/task.ts';
import { Refusal } from '../core/failure.ts';
import { openGitAdapter } from '../git/repository/adapter.ts';
import { droverVersion } from '../protocol/version.ts';
import type { LocalRepository } from '../git/local-port.ts';
import type { StoreTables } from '../store/port.ts';
import { parseOtlpEndpoint } from '../core/settings/telemetry-settings.ts';
import { readExporter, traceExporter } from '../store/feed/exporters.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { sandboxState } from '../confinement/sandbox-state.ts';
import { heldSentence } from '../project/accepted-settings.ts';
import { policyText } from '../core/settings/policy.ts';
import { readPolicies } from '../project/policy-files.ts';
import { namedPrograms } from '../project/named-programs.ts';
import { LiveSettings } from '../project/live-settings.ts';
import { identityProblem } from '../project/identity.ts';
import type { Check, DoctorRequest } from './check.ts';
import { fleetChecks } from './fleet-checks.ts';
import { identityCheck } from './identity-check.ts';
import { lentSettingsCheck } from './lent-settings-check.ts';
import { openLocalRepository } from '../project/open-repository.ts';
import {
  projectPlaces,
  type ProjectPlaces,
  runningAddress,
  whyNoWorktrees,
} from '../project/project-places.ts';
import type { ExporterTable } from '../store/schema/exporter-table.ts';

export interface Doctor {
  readonly backend: {
    readonly running: boolean;
    readonly pid: number | null;
    readonly version: string | null;
  };
  readonly checks: readonly Check[];
  /** Every kind of agent, found or not. */
  readonly agents: readonly {
    readonly kind: AgentKind;
    readonly found: boolean;
    readonly version: string | null;
    readonly broken?: true;
    readonly signed_in: boolean | null;
    readonly path: string | null;
    readonly remedy: string | null;
  }[];
}

const nodeMajorNeeded = 24;
const diskBytesMin = 1024 * 1024 * 1024;

export async function doctor(root: string | null, request: DoctorRequest = {}): Promise<Doctor> {
  const checks: Check[] = [nodeCheck(), await gitCheck()];
  if (root === null) {
    checks.push({
      name: 'project',
      ok: false,
      message:
        'no .drover folder here or in a parent folder; run "drover init" in a git repository',
    });
    const agents = (await agentsOf(null)).map(agentView);
    return { backend: { running: false, pid: null, version: null }, checks, agents };
  }
  checks.push(...(await repositoryChecks(root)), diskCheck(root));
  const live = await LiveSettings.load(root, process.env, {});
  for (const problem of live.loaded.problems)
    checks.push({ name: 'configuration', ok: false, message: problem.message });
  for (const warning of live.loaded.warnings)
    checks.push({ name: 'configuration', ok: true, message: `warning: ${warning.message}` });
  for (const held of live.held)
    checks.push({ name: 'settings', ok: true, message: `warning: ${heldSentence(held)}` });
  const { fleetDatabaseUrl } = live.settings;
  if (fleetDatabaseUrl === null) {
    const places = projectPlaces(root, live.settings.databasePath);
    checks.push(databaseCheck(places.database), ...(await projectCheck(places)));
  } else {
    checks.push(...(await fleetChecks(root, live, fleetDatabaseUrl, request)));
  }
  for (const policy of await readPolicies())
    checks.push({ name: 'policy', ok: policy.kind === 'policy', message: policyText(policy) });
  const worktrees = whyNoWorktrees(root, live.settings.worktreeRoot);
  if (worktrees !== null) checks.push({ name: 'worktrees', ok: false, message: worktrees });
  const agents = await agentsOf({ live, root });
  if (live.loaded.problems.length === 0) checks.push(agentCheck(live, agents));
  checks.push(gateCheck(live), environmentCheck(live));
  checks.push(
    ...(await telemetryChecks(live, projectPlaces(root, live.settings.databasePath).database)),
  );
  const sandbox = await sandboxState(
    live.settings.sandbox,
    live.loaded.values['sandbox.mode'].source,
  );
  checks.push({
    name: 'sandbox',
    ok: !sandbox.refuses,
    message: sandbox.holds === 'nothing' ? `no sandbox: ${sandbox.message}` : sandbox.message,
  });
  if (sandbox.holds === 'bwrap') checks.push(...(await lentSettingsCheck(root)));
  if (request.forge === true) {
    const { forgeChecks } = await import('./forge-checks.ts');
    checks.push(...(await forgeChecks(root, live)));
  }
  const address = runningAddress(root);
  return {
    backend: {
      running: address !== null,
      pid: address?.pid ?? null,
      version: address?.version ?? null,
    },
    checks,
    agents: agents.map(agentView),
  };
}

function agentView({ signedIn, isBroken, ...entry }: InventoryEntry): Doctor['agents'][number] {
  return { ...entry, signed_in: signedIn, ...(isBroken === true && { broken: true }) };
}

function nodeCheck(): Check {
  const ok = Number(process.versions.node.split('.')[0]) >= nodeMajorNeeded;
  return {
    name: 'node',
    ok,
    message: ok
      ? process.versions.node
      : `${process.versions.node} is too old; Node ${nodeMajorNeeded} is needed`,
  };
}

async function gitCheck(): Promise<Check> {
  const version = await openGitAdapter().version();
  return version.ok
    ? { name: 'git', ok: true, message: version.value }
    : { name: 'git', ok: false, message: version.error.message };
}

async function repositoryChecks(root: string): Promise<readonly Check[]> {
  const opened = await openGitAdapter().open(root);
  if (!opened.ok) return [{ name: 'repository', ok: false, message: opened.error.message }];
  const { warnings } = opened.value;
  const warned = warnings.map((message) => ({ name: 'repository', ok: false, message }));
  return [repositoryCheck(root, opened.value), ...warned, await identityCheck(opened.value)];
}

function repositoryCheck(root: string, { facts }: LocalRepository): Check {
  const { headSha, headBranch } = facts;
  if (headSha === null)
    return {
      name: 'repository',
      ok: false,
      message: `${root} has no commit yet; make a first one`,
    };
  return {
    name: 'repository',
    ok: true,
    message:
      headBranch === null ? 'HEAD is detached; name a branch with --target' : `on ${headBranch}`,
  };
}

function diskCheck(root: string): Check {
  try {
    const stats = statfsSync(dirname(root));
    const freeBytes = stats.bavail * stats.bsize;
    const ok = freeBytes >= diskBytesMin;
    const free = `${(freeBytes / 1024 ** 3).toFixed(1)} GB free`;
    return {
      name: 'disk',
      ok,
      message: ok ? free : `${free}; worktrees need room, free some space`,
    };
  } catch (error) {
    return { name: 'disk', ok: false, message: String(error) };
  }
}

function databaseCheck(path: string): Check {
  if (!existsSync(path))
    return { name: 'database', ok: false, message: `${path} is missing; run "drover init"` };
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    openSqlite(path, { readOnly: true })
      .close()
      .catch(() => undefined);
    return { name: 'database', ok: true, message: path };
  } catch (error) {
    return {
      name: 'database',
      ok: false,
      message: error instanceof Refusal ? error.message : `${path}: ${String(error)}`,
    };
  }
}

/**
 * Reported only if the plan belongs to another repository. An unreadable database has its own
 * check.
 */
async function projectCheck(places: ProjectPlaces): Promise<readonly Check[]> {
  if (!existsSync(places.database)) return [];
  try {
    const opened = openSqlite<StoreTables>(places.database, { readOnly: true });
    try {
      const openLocal = (): Promise<LocalRepository> => openLocalRepository(places.root, {});
      const problem = await identityProblem({ places, store: opened, openLocal });
      return problem === null ? [] : [{ name: 'project', ok: false, message: problem }];
    } finally {
      await opened.close();
    }
  } catch {
    return [];
  }
}

/** The only place that reports an exporter's problems, because they do not affect a run. */
async function telemetryChecks(live: LiveSettings, path: string): Promise<readonly Check[]> {
  const { otel, fleetDatabaseUrl } = live.settings;
  if (!otel.enabled) return [];
  const name = 'telemetry';
  const endpoint = parseOtlpEndpoint(otel.endpoint);
  if (endpoint === null) {
    const message = `telemetry.endpoint must be the URL of a collector, such as "http://host:4318".`;
    return [{ name, ok: false, message }];
  }
  const where = endpoint.note ?? `Traces are sent to ${endpoint.traces}.`;
  const row = fleetDatabaseUrl === null ? await exporterIn(path) : null;
  const error = row?.error ?? null;
  if (error !== null) return [{ name, ok: false, message: `${where} ${error}` }];
  const sent = row?.sent_at_ms ?? null;
  const last =
    sent === null ? 'Nothing has been sent yet.' : `Last sent ${new Date(sent).toISOString()}.`;
  return [{ name, ok: true, message: `${where} ${last}` }];
}

async function exporterIn(path: string): Promise<ExporterTable | null> {
  try {
    const opened = openSqlite<StoreTables>(path, { readOnly: true });
    try {
      return await readExporter(opened.db, traceExporter);
    } finally {
      await opened.close();
    }
  } catch {
    // The database check reports it.
    return null;
  }
}

async function agentsOf(
  project: { readonly live: LiveSettings; readonly root: string } | null,
): Promise<readonly InventoryEntry[]> {
  const env = process.env;
  const cwd = process.cwd();
  return await lookForAgents({
    env,
    home: env['HOME'] ?? homedir(),
    baseDir: project?.root ?? cwd,
    projectDir: project?.root ?? repositoryAround(cwd),
    named: project === null ? {} : namedPrograms(project.live),
    version: droverVersion,
  });
}

/** Reads a fresh clone with the same care before `drover init`. */
function repositoryAround(from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return null;
  }
}

function agentCheck(live: LiveSettings, agents: readonly InventoryEntry[]): Check {
  const { kind } = live.settings.agent;
  const name = `agent ${kind}`;
  const entry = agents.find((one) => one.kind === kind);
  if (entry === undefined) return { name, ok: false, message: `${kind} is not a kind of agent` };
  const { found, version, path, signedIn, remedy, isBroken } = entry;
  if (!found) return { name, ok: false, message: `not found: ${remedy ?? ''}` };
  if (isBroken === true) return { name, ok: false, message: remedy ?? '' };
  const isOld =
    kind === 'claude' && version !== null && compareVersions(version, testedVersion) < 0;
  const age = isOld ? `; older than ${testedVersion}, with which Drover is tested` : '';
  const what = `${[version, path].filter((word) => word !== null).join(': ')}${age}`;
  return signedIn === false
    ? { name, ok: false, message: `${what}, not signed in: ${remedy ?? ''}` }
    : { name, ok: true, message: remedy === null ? what : `${what}. ${remedy}` };
}

function gateCheck(live: LiveSettings): Check {
  const { command } = live.settings.gate;
  return command === null
    ? {
        name: 'gate',
        ok: true,
        message:
          'warning: none configured; nothing is tested before it lands ([gate] command, DROVER_GATE or --gate)',
      }
    : { name: 'gate', ok: true, message: gateTitle(command) };
}

/** How the command's agents differ from the project's. */
function besides(
  agents: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
): string {
  const more = Object.keys(variables).filter((name) => !(name in agents));
  const fewer = Object.keys(agents).filter((name) => !(name in variables));
  return [
    'the same',
    ...(more.length === 0 ? [] : [`and ${more.toSorted().join(' ')}`]),
    ...(fewer.length === 0 ? [] : [`but not ${fewer.toSorted().join(' ')}`]),
  ].join(', ');
}

/** Only names, because values may be secret. */
function environmentCheck({ environment, settings }: LiveSettings): Check {
  const { agent, envAllow } = settings;
  const ofAgent = { ...agent.env };
  const agents = agentEnvironment(environment, agent.kind as AgentKind, ofAgent, envAllow);
  const commands = (own: readonly string[]): Record<string, string> =>
    commandEnvironment(environment, [...envAllow, ...own]);
  const seen = [
    `the agent sees ${Object.keys(agents).toSorted().join(' ')}`,
    `the gate ${besides(agents, commands(settings.gate.envAllow))}`,
    `the setup ${besides(agents, commands(settings.setup.envAllow))}`,
  ];
  return { name: 'environment', ok: true, message: seen.join('; ') };
}
