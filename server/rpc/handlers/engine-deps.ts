// What the requests that need the engine get from outside.

import type { SettingKey, SettingSource } from '../../core/settings/settings.ts';
import type { SandboxView } from '../../protocol/panel-views.ts';
import type { Answer, EpicView, Params, TaskView } from '../../protocol/api.ts';
import type { Engine } from '../../workflows/kit/engine-ports.ts';

export interface Offer extends Pick<
  EngineHandlerDeps,
  'sandbox' | 'programOfProject' | 'settingOf'
> {
  readonly settings: Engine['settings'];
  readonly warnings: readonly string[];
}

export interface EngineHandlerDeps {
  readonly engine: Engine;
  readonly taskView: (id: string) => Promise<TaskView>;
  readonly epicView: (id: string) => Promise<EpicView>;
  /**
   * A person's word to start: loads the settings again with the caller's environment and flags, and
   * accepts what the repository brings. Refuses invalid values before anything changes.
   */
  readonly configure: (
    env: Readonly<Record<string, string>> | undefined,
    flags: Readonly<Record<string, unknown>>,
  ) => Promise<readonly string[]>;
  /** The same as a look: what the run would use and warn of. Nothing of it is in force. */
  readonly offer?: (flags: Readonly<Record<string, unknown>>) => Promise<Offer>;
  readonly pruneWorktrees: (options: Params<'worktree.prune'>) => Promise<Answer<'worktree.prune'>>;
  /** Free bytes where worktrees are created; null if unknown. */
  readonly freeBytes: () => number | null;
  /** What holds agents, gate and setup; absent where nothing is known of it. */
  readonly sandbox?: () => Promise<SandboxView>;
  /** The program of a kind of agent that only a file of the project names; null: it names none. */
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
