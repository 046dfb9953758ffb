// The external dependencies of requests that need the engine.

import type { LandMode } from '../../core/plan/task.ts';
import type { PolicyAct } from '../../core/settings/policy.ts';
import type { SettingKey, SettingSource } from '../../core/settings/settings.ts';
import type { PreflightCheck, SandboxView } from '../../protocol/panel-views.ts';
import type { Answer, EpicView, Params, TaskView } from '../../protocol/api.ts';
import type { Engine } from '../../workflows/kit/engine-ports.ts';

export interface Offer extends Pick<
  EngineHandlerDeps,
  'sandbox' | 'programOfProject' | 'settingOf' | 'landingChecks'
> {
  /** The engine's values for these settings. */
  readonly engine: Pick<Engine, 'settings' | 'driverFor' | 'agentEnvironment'>;
  readonly warnings: readonly string[];
}

/** A start that may still be refused. */
export interface ConfiguredStart extends Pick<Offer, 'engine' | 'warnings'> {
  /**
   * Called when the start is certain and a person has accepted the run's settings. Puts them in
   * force and returns the new ones.
   */
  readonly use: () => Promise<readonly string[]>;
}

export interface EngineHandlerDeps {
  readonly engine: Engine;
  readonly taskView: (id: string) => Promise<TaskView>;
  readonly epicView: (id: string) => Promise<EpicView>;
  /**
   * Prepares a start: loads the settings again with the caller's environment and flags. Refuses
   * invalid values. Puts nothing in force yet.
   */
  readonly configure: (
    env: Readonly<Record<string, string>> | undefined,
    flags: Readonly<Record<string, unknown>>,
  ) => Promise<ConfiguredStart>;
  /** Previews the run's settings and warnings, without applying them. */
  readonly offer?: (
    env: Readonly<Record<string, string>> | undefined,
    flags: Readonly<Record<string, unknown>>,
  ) => Promise<Offer>;
  readonly pruneWorktrees: (options: Params<'worktree.prune'>) => Promise<Answer<'worktree.prune'>>;
  /** Free bytes on the disk for worktrees; null if unknown. */
  readonly freeBytes: () => number | null;
  /** Refuses a decision that a policy of this machine reserves for others. */
  readonly refuseByPolicy: (act: PolicyAct) => Promise<void>;
  /** The sandbox of agents, gates and setups. Absent if unknown. */
  readonly sandbox?: () => Promise<SandboxView>;
  /**
   * The program of an agent kind that only a file of the project names. Returns null if it names
   * none.
   */
  readonly programOfProject?: (
    kind: string,
  ) => { readonly path: string; readonly isFound: boolean } | null;
  /**
   * The requirements of a pull request, for a run that lands on this branch. Empty if it opens
   * none. If `land` is null, the settings decide.
   */
  readonly landingChecks?: (
    land: LandMode | null,
    branch: string | null,
  ) => Promise<readonly PreflightCheck[]>;
  /** A setting's current value and its source. */
  readonly settingOf?: (key: SettingKey) => {
    readonly value: unknown;
    readonly source: SettingSource;
  };
  readonly shutdown: (force: boolean) => Promise<{ leaving: boolean; reason: string }>;
}
