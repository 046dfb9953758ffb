// All requests of one project as its backend serves them: those answered from the database, and
// those that need the engine.

import { withoutGitCommand } from '../core/work/git-variables.ts';
import { Refusal } from '../core/failure.ts';
import { dirname } from 'node:path';
import { freeBytes } from '../platform/host-facts.ts';
import type { Answer, Handlers } from '../protocol/api.ts';
import type { EngineHandlerDeps } from '../rpc/handlers/engine-deps.ts';
import type { PreflightCheck } from '../protocol/panel-views.ts';
import { createEngineHandlers } from '../rpc/handlers/engine.ts';
import type { RequestHandlers } from '../rpc/transport/local.ts';
import { activeRuns } from '../workflows/run/start-run.ts';
import { pruneWorktrees } from '../workflows/attempt/worktrees.ts';
import type { EngineHost } from './compose.ts';
import { dataHandlers, worktreeParts, worktreeView } from './data-handlers.ts';
import { withBackendPath } from '../project/client-environment.ts';
import type { Environment, LiveSettings, SettingFlags } from '../project/live-settings.ts';
import { programOfProject } from '../project/named-programs.ts';
import { whyNoWorktrees } from '../project/project-places.ts';
import { refuseByPolicy } from '../project/policy-files.ts';
import { webhookHandlers } from '../webhooks/requests.ts';
import { servedHandlers } from './served-handlers.ts';
import { secretMask } from '../project/secrets.ts';
import { sandboxState } from '../confinement/sandbox-state.ts';
import { specHandlers } from '../planning/spec-handlers.ts';
import type { Project } from '../project/opened-project.ts';

export interface BackendControl {
  readonly onShutdown: (force: boolean) => Promise<{ leaving: boolean; reason: string }>;
  /** Called when webhook deliveries were set to be sent again. */
  readonly onWebhookRetry: () => void;
}

export function allHandlers(
  project: Project,
  host: EngineHost,
  control: BackendControl,
): RequestHandlers {
  const data = dataHandlers(project, true);
  const engine = createEngineHandlers({
    engine: host.engine,
    taskView: (id) => data['task.show']({ id }),
    epicView: (id) => data['epic.show']({ id }),
    configure: async (env, flags) => {
      const environment = environmentFor(project, env);
      const offer = await project.live.offer(environment, flags as SettingFlags);
      const warnings = await warningsOf(project, offer);
      return { warnings, engine: host.engineWith(offer), use: () => project.live.use(offer) };
    },
    offer: async (env, flags) => {
      const environment = environmentFor(project, env);
      const offer = await project.live.offer(environment, flags as SettingFlags);
      return {
        warnings: await warningsOf(project, offer),
        engine: host.engineWith(offer),
        sandbox: () =>
          sandboxState(offer.settings.sandbox, offer.loaded.values['sandbox.mode'].source),
        programOfProject: (kind) => programOfProject(offer, project.places.root, kind),
        settingOf: (key) => offer.loaded.values[key],
        landingChecks: (...asked) => checksOfForge(project, offer, ...asked),
      };
    },
    refuseByPolicy,
    sandbox: () => host.confinement.state(),
    pruneWorktrees: async (options): Promise<Answer<'worktree.prune'>> => {
      const { dry_run: isDry, force, paths } = options;
      const request = {
        dryRun: isDry === true,
        force: force === true,
        only: paths ?? null,
      };
      return (await pruneWorktrees(await worktreeParts(project), request)).map(worktreeView);
    },
    // By default, worktrees are in a folder beside the repository.
    freeBytes: () => freeBytes(dirname(project.places.root)),
    programOfProject: (kind) => programOfProject(project.live, project.places.root, kind),
    settingOf: (key) => project.live.loaded.values[key],
    landingChecks: (...asked) => checksOfForge(project, project.live, ...asked),
    shutdown: (force) => control.onShutdown(force),
  });
  const webhooks = webhookHandlers(project, control.onWebhookRetry);
  const retention: Pick<Handlers, 'prune'> = {
    prune: async ({ dry_run: isDry }) => {
      await project.live.refreshBounds();
      const { prune } = await import('../upkeep/retention.ts');
      const { signal } = new AbortController();
      return prune(project, host.durable, { isDry: isDry === true, signal, scope: 'all' });
    },
  };
  const refreshSettings = async (): Promise<void> => {
    // An active run's settings do not change after its start, except for its limits.
    if ((await activeRuns(host.engine)).length === 0) return project.live.refresh();
    await project.live.refreshBounds();
    host.engine.switchboard.wake();
  };
  return servedHandlers(
    { ...data, ...engine, ...specHandlers(project), ...webhooks, ...retention },
    () => secretMask(project.live),
    () => project.live.settings.fleet.name,
    refreshSettings,
  );
}

async function checksOfForge(
  { places: { root } }: Project,
  { environment, settings: { land, forge } }: LiveSettings,
  ...[asked, branch]: Parameters<NonNullable<EngineHandlerDeps['landingChecks']>>
): Promise<readonly PreflightCheck[]> {
  const base = forge.base ?? branch;
  if ((asked ?? land.mode) !== 'pr' || branch === null || base === null) return [];
  const { landingChecks } = await import('../forge-work/landing-checks.ts');
  return landingChecks(root, environment, base);
}

function environmentFor({ live }: Project, env: Environment | undefined): Environment {
  return env === undefined
    ? live.environment
    : withBackendPath(withoutGitCommand(env), process.env);
}

/** Warnings of a run with these settings. Refuses if it would not be confined as configured. */
async function warningsOf(project: Project, offer: LiveSettings): Promise<readonly string[]> {
  const { settings, warnings } = offer.loaded;
  const later =
    settings.fleetDatabaseUrl === null || project.fleet !== null
      ? []
      : [
          'DBOS_SYSTEM_DATABASE_URL is set, but the running backend was started without it and does not use it. Run "drover server stop", then try again.',
        ];
  if (settings.forge.shape === 'stack' && settings.forge.merge === 'queue') {
    const why = 'A stack of pull requests cannot go through a merge queue';
    const remedy = 'Set [forge] merge to "person" or "auto", or [forge] shape to "epic"';
    throw new Refusal('bad_configuration', `${why}. ${remedy}.`);
  }
  const problem = whyNoWorktrees(project.places.root, settings.worktreeRoot);
  if (problem !== null) throw new Refusal('bad_configuration', problem);
  const sandbox = await sandboxState(settings.sandbox, offer.loaded.values['sandbox.mode'].source);
  if (sandbox.refuses) {
    throw new Refusal('sandbox', `The sandbox does not work: ${sandbox.message}`);
  }
  const isOpen = sandbox.holds === 'nothing' && sandbox.mode !== 'off';
  return [
    ...warnings.map((warning) => warning.message),
    ...later,
    ...(isOpen ? [`no sandbox: ${sandbox.message}`] : []),
  ];
}
