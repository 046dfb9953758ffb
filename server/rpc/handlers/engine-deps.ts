// What the requests that need the engine get from outside.

import type { SettingKey, SettingSource } from '../../core/settings/settings.ts';
import type { SandboxView } from '../../protocol/panel-views.ts';
import type { Answer, EpicView, Params, TaskView } from '../../protocol/api.ts';
import type { Engine } from '../../workflows/kit/engine-ports.ts';

export interface Offer extends Pick<
  EngineHandlerDeps,
  'sandbox' | 'programOfProject' | 'settingOf'
> {
  /** What the engine would have with these settings. */
  readonly engine: Pick<Engine, 'settings' | 'driverFor' | 'agentEnvironment'>;
  readonly warnings: readonly string[];
}

/** A start that may still be refused. */
export interface ConfiguredStart extends Pick<Offer, 'engine' | 'warnings'> {
  /**
   * The start is certain: a person has accepted its settings, and they are in force. Answers what
   * is new.
   */
  readonly use: () => Promise<readonly string[]>;
}

export interface EngineHandlerDeps {
  readonly engine: Engine;
  readonly taskView: (id: string) => Promise<TaskView>;
  readonly epicView: (id: string) => Promise<EpicView>;
  /**
   * A person asks for a start: loads the settings again with the caller's environment and flags.
   * Refuses invalid values; nothing of it is in force yet.
   */
  readonly configure: (
    env: Readonly<Record<string, string>> | undefined,
    flags: Readonly<Record<string, unknown>>,
  ) => Promise<ConfiguredStart>;
  /** The same as a look: what the run would use and warn of. Nothing of it is in force. */
  readonly offer?: (
    env: Readonly<Record<string, string>> | undefined,
    flags: Readonly<Record<string, unknown>>,
  ) => Promise<Offer>;
  readonly pruneWorktrees: (options: Params<'worktree.prune'>) => Promise<Answer<'worktree.prune'>>;
  /** Free bytes where worktrees are created; null if unknown. */
  readonly freeBytes: () => number | null;
  /** What holds agents, gate and setup; absent where nothing is known of it. */
  readonly sandbox?: () => Promise<SandboxView>;
  /**
   * The program of a kind of agent that only a file of the project names. Returns null if it names
   * none.
   */
  readonly programOfProject?: (
    kind: string,
  ) => { readonly path: string; readonly isFound: boolean } | null;
  /** A setting as it is now, and where it comes from. */
  readonly settingOf?: (key: SettingKey) => {
    readonly value: unknown;
    readonly source: SettingSource;
  };
  readonly shutdown: (force: boolean) => Promise<{ leaving: boolean; reason: string }>;
}
