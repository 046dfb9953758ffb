// All settings of the extension as data; a test compares them with the manifest in both directions.

import { typedKeys } from '../../server/core/keys-of.ts';
import {
  agentKinds,
  landModes,
  type AgentKind,
  type LandMode,
} from '../../server/core/plan/task.ts';

export interface ExtensionSettings {
  /** If empty, the project's own settings apply. */
  readonly agent: AgentKind | '';
  readonly agentPath: string;
  /** If 0, the project's own settings apply. */
  readonly workers: number;
  readonly gate: string;
  readonly land: '' | LandMode;
  readonly showPreflight: boolean;
  readonly notifications: 'all' | 'blocking' | 'none';
  readonly osNotifications: boolean;
  readonly statusBar: boolean;
  readonly apiKeyVariable: string;
}

/**
 * `machine` and `application`: a workspace cannot set it, because a clone contains workspace
 * settings that no person accepts, unlike the settings of `.drover.toml`.
 */
type SettingScope = 'resource' | 'window' | 'machine' | 'application';

export interface SettingDefinition {
  readonly type: 'string' | 'boolean' | 'integer';
  readonly fallback: string | boolean | number;
  readonly scope: SettingScope;
  readonly choices?: readonly string[];
}

export const settingTable: { readonly [K in keyof ExtensionSettings]: SettingDefinition } = {
  agent: { type: 'string', fallback: '', scope: 'machine', choices: ['', ...agentKinds] },
  agentPath: { type: 'string', fallback: '', scope: 'machine' },
  workers: { type: 'integer', fallback: 0, scope: 'resource' },
  gate: { type: 'string', fallback: '', scope: 'machine' },
  land: {
    type: 'string',
    fallback: '',
    scope: 'machine',
    choices: ['', ...landModes],
  },
  showPreflight: { type: 'boolean', fallback: true, scope: 'application' },
  notifications: {
    type: 'string',
    fallback: 'all',
    scope: 'window',
    choices: ['all', 'blocking', 'none'],
  },
  osNotifications: { type: 'boolean', fallback: true, scope: 'window' },
  statusBar: { type: 'boolean', fallback: true, scope: 'window' },
  apiKeyVariable: { type: 'string', fallback: 'ANTHROPIC_API_KEY', scope: 'machine' },
};

export const settingNames = typedKeys(settingTable);

/** Returns a value from a settings file, or the fallback if the value is unknown. */
export function settingValue<K extends keyof ExtensionSettings>(
  name: K,
  written: unknown,
): ExtensionSettings[K] {
  const { type, fallback, choices } = settingTable[name];
  const isRight =
    type === 'integer'
      ? typeof written === 'number' && Number.isInteger(written) && written >= 0
      : typeof written === type;
  const isChoice = choices === undefined || choices.includes(written as string);
  return (isRight && isChoice ? written : fallback) as ExtensionSettings[K];
}

/**
 * The variables that pass these settings to a run; empty ones are omitted, so that the project's
 * own settings apply.
 */
export function settingVariables(settings: ExtensionSettings): Readonly<Record<string, string>> {
  const given: readonly (readonly [string, string])[] = [
    ['DROVER_AGENT_TYPE', settings.agent],
    ['DROVER_AGENT_PATH', settings.agentPath],
    ['DROVER_WORKERS', settings.workers === 0 ? '' : String(settings.workers)],
    ['DROVER_GATE', settings.gate],
  ];
  return Object.fromEntries(given.filter(([, value]) => value !== ''));
}
