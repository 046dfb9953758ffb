// Merges the layers of settings. The highest layer with a key wins. Invalid values are problems in
// any layer, and unknown keys are warnings.

import type { AgentSettingsByKind } from './agent-settings.ts';
import { readRemoteSettings } from './remote-settings.ts';
import { readCommandSettings } from './command-settings.ts';
import { readSandboxSettings } from './sandbox-settings.ts';
import { readBudgets, readMachineLimits } from './bound-settings.ts';
import { resolveForgeSettings } from './forge-settings.ts';
import { readFleetSettings } from './fleet-settings.ts';
import { resolveReviewSettings } from './review-settings.ts';
import { readValue, type ValueKind } from './setting-values.ts';
import {
  settingKeys,
  settingTable,
  type SettingDefinition,
  type SettingKey,
  type Settings,
  type SettingSource,
} from './settings.ts';
import { readRetentionSettings } from './retention.ts';
import type { AgentKind } from '../plan/task.ts';
import { readTelemetrySettings } from './telemetry-settings.ts';
import {
  type EndpointTables,
  shownEndpoints,
  shownUrl,
  readWebhookSettings,
} from './webhook-endpoints.ts';

/** One value in a layer. */
export interface SettingEntry {
  /** Dotted key, such as `gate.command`. */
  readonly key: string;
  readonly raw: unknown;
  readonly form: 'typed' | 'text';
  /** The place of the value as people know it: the file, `--workers` or `DROVER_WORKERS`. */
  readonly origin: string;
  /** Line in the file, from 1; null for flags and variables. */
  readonly line: number | null;
}

export interface SettingLayer {
  readonly source: Exclude<SettingSource, 'default'>;
  readonly entries: readonly SettingEntry[];
}

export interface SettingNote {
  /** File, flag or variable; null if several contributed, or none. */
  readonly origin: string | null;
  readonly line: number | null;
  readonly key: string | null;
  /** A whole sentence with place, key, fault and expected value. */
  readonly message: string;
}

export interface ResolvedValue {
  readonly value: unknown;
  readonly source: SettingSource;
  /** The value as written, if that is easier to read (durations, sizes). */
  readonly shown: unknown;
}

export interface LoadedSettings {
  readonly settings: Settings;
  readonly values: { readonly [K in SettingKey]: ResolvedValue };
  /** A single problem prevents the command from starting anything. */
  readonly problems: readonly SettingNote[];
  readonly warnings: readonly SettingNote[];
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settingTable, key);
}

function definitionOf(key: SettingKey): SettingDefinition {
  return settingTable[key];
}

/** The layers may be in any order. */
export function resolveSettings(layers: readonly SettingLayer[]): LoadedSettings {
  const problems: SettingNote[] = [];
  const warnings: SettingNote[] = [];
  const values = new Map<SettingKey, ResolvedValue>();
  for (const key of settingKeys) values.set(key, defaultOf(key));
  for (const source of ['user', 'project', 'env', 'flag', 'policy'] as const) {
    for (const layer of layers) {
      if (layer.source !== source) continue;
      for (const entry of layer.entries) {
        if (!isSettingKey(entry.key) || !mayStandThere(entry.key, source)) {
          warnings.push(unknownKey(entry));
          continue;
        }
        const read = readEntry(entry.key, entry, source);
        if ('message' in read) problems.push(read);
        else values.set(entry.key, overLower(entry.key, read, values.get(entry.key)));
      }
    }
  }
  const both = chooseGate(values);
  if (both !== null) problems.push(both);
  const all = Object.fromEntries(values) as { [K in SettingKey]: ResolvedValue };
  return { settings: settingsOf(all), values: all, problems, warnings };
}

const sources: readonly SettingSource[] = ['default', 'user', 'project', 'env', 'flag', 'policy'];

/** A gate has either a command or stages. The higher layer decides which. */
function chooseGate(values: Map<SettingKey, ResolvedValue>): SettingNote | null {
  const [command, stages] = [values.get('gate.command'), values.get('gate.stages')];
  if (typeof command?.value !== 'string' || stages === undefined) return null;
  if ((stages.value as readonly unknown[]).length === 0) return null;
  if (command.source === stages.source) {
    return {
      origin: null,
      line: null,
      key: 'gate.stages',
      message:
        '`gate.command` and `gate.stages` are both set. Remove one of them: the stages run in place of the command.',
    };
  }
  const isCommand = sources.indexOf(command.source) > sources.indexOf(stages.source);
  const lower = isCommand ? 'gate.stages' : 'gate.command';
  values.set(lower, defaultOf(lower));
  return null;
}

/** Merges settings of agents with those of lower layers, for the same agent and for others. */
function overLower(
  key: SettingKey,
  read: ResolvedValue,
  lower: ResolvedValue | undefined,
): ResolvedValue {
  if (definitionOf(key).value.type !== 'agents' || lower === undefined) return read;
  const value = { ...(read.value as AgentSettingsByKind) };
  for (const [kind, one] of Object.entries(lower.value as AgentSettingsByKind)) {
    const agent = kind as AgentKind;
    value[agent] = { ...one, ...value[agent] };
  }
  const shown = { ...(lower.shown as object), ...(read.shown as object) };
  return { ...read, value, shown };
}

function mayStandThere(key: SettingKey, source: SettingSource): boolean {
  return definitionOf(key).inFile || source === 'env' || source === 'flag';
}

function defaultOf(key: SettingKey): ResolvedValue {
  const { value, fallback } = definitionOf(key);
  if (fallback === null) return { value: null, source: 'default', shown: null };
  const read = readValue(value, fallback, 'typed');
  if (!read.ok) throw new Error(`the default of ${key} is not ${read.error}`);
  return { value: read.value, source: 'default', shown: shownOf(value, fallback, read.value) };
}

/** For these kinds an empty text means "not set". */
const emptyIsNone: ReadonlySet<ValueKind['type']> = new Set(['text', 'word', 'url', 'secret']);

function readEntry(
  key: SettingKey,
  entry: SettingEntry,
  source: SettingSource,
): ResolvedValue | SettingNote {
  const { value: kind, fallback } = definitionOf(key);
  // An empty text overrides the value of a lower layer: `command = ""` means "no command".
  if (fallback === null && emptyIsNone.has(kind.type) && entry.raw === '') {
    return { value: null, source, shown: null };
  }
  const read = readValue(kind, entry.raw, entry.form);
  if (read.ok) return { value: read.value, source, shown: shownOf(kind, entry.raw, read.value) };
  // A URL may contain a password, so messages name the key but never show the value.
  const secret = secretKinds.has(kind.type);
  const got = secret ? 'has a wrong value' : `is ${describeRaw(entry.raw)}`;
  return {
    origin: entry.origin,
    line: entry.line,
    key,
    message: `${placeOf(entry)}: \`${displayKey(key)}\` ${got}; expected ${read.error}`,
  };
}

/** Messages never repeat values of these kinds. */
const secretKinds: ReadonlySet<ValueKind['type']> = new Set([
  'postgres',
  'environment',
  'url',
  'secret',
  'endpoints',
]);

function shownOf(kind: ValueKind, raw: unknown, value: unknown): unknown {
  return kind.type === 'age' ||
    kind.type === 'duration' ||
    kind.type === 'size' ||
    kind.type === 'agents'
    ? raw
    : value;
}

function placeOf(entry: SettingEntry): string {
  return entry.line === null ? entry.origin : `${entry.origin}, line ${entry.line}`;
}

function describeRaw(raw: unknown): string {
  if (typeof raw === 'string') return `\`${raw.length > 100 ? `${raw.slice(0, 100)}…` : raw}\``;
  if (typeof raw === 'number' || typeof raw === 'boolean') return String(raw);
  if (Array.isArray(raw)) return 'a list';
  return raw === null || typeof raw !== 'object' ? 'not a value' : 'a table';
}

/** Keys of the Go version that have another name here, or none (null). */
const keysOfGo: Readonly<Record<string, string>> = {
  max_file_size: '; Drover calls it `max_commit_file_size`',
  max_diff_size: '; Drover has no limit for it, so the line can be removed',
};

function unknownKey(entry: SettingEntry): SettingNote {
  const near = nearestKey(entry.key);
  const other = near === null ? '' : `; did you mean \`${near}\`?`;
  const hint = keysOfGo[entry.key] ?? other;
  return {
    origin: entry.origin,
    line: entry.line,
    key: entry.key,
    message: `${placeOf(entry)}: unknown key \`${entry.key}\`${hint}`,
  };
}

function nearestKey(key: string): string | null {
  if (key.length > 60) return null;
  let best: { key: string; distance: number } | null = null;
  for (const candidate of settingKeys) {
    if (!definitionOf(candidate).inFile) continue;
    const distance = editDistance(key, candidate);
    if (best === null || distance < best.distance) best = { key: candidate, distance };
  }
  return best !== null && best.distance <= 2 ? best.key : null;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const change = (row[j - 1] ?? 0) + same;
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** A key's name for people and for `status`. The agent's kind is simply `agent`. */
export function displayKey(key: SettingKey): string {
  return key === 'agent.kind' ? 'agent' : key;
}

const secretName = /KEY|TOKEN|SECRET|PASSWORD/i;

/** Each value with its source, for `status --json`. Secrets are hidden. */
export function shownSettings(
  loaded: LoadedSettings,
): Readonly<Record<string, { readonly value: unknown; readonly source: SettingSource }>> {
  const shown: Record<string, { value: unknown; source: SettingSource }> = {};
  for (const key of settingKeys) {
    const { shown: value, source } = loaded.values[key];
    shown[displayKey(key)] = { value: hideSecrets(definitionOf(key).value, value), source };
  }
  return shown;
}

function hideSecrets(kind: ValueKind, value: unknown): unknown {
  if (value === null) return null;
  if (kind.type === 'postgres' || kind.type === 'secret') return '[hidden]';
  if (kind.type === 'url') return shownUrl(value as string);
  if (kind.type === 'endpoints') return shownEndpoints(value as EndpointTables);
  if (kind.type !== 'environment' || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => [name, secretName.test(name) ? '[hidden]' : text]),
  );
}

type Values = { readonly [K in SettingKey]: ResolvedValue };

function settingsOf(values: Values): Settings {
  // Each value was read by the kind in its table row, so the row determines its type.
  const get = <T>(key: SettingKey): T => values[key].value as T;
  const sparse = get<readonly string[]>('worktree.sparse');
  return {
    agent: {
      kind: get('agent.kind'),
      path: get('agent.path'),
      args: get('agent.args'),
      model: get('agent.model'),
      permissionMode: get('agent.permission_mode'),
      tools: get('agent.tools'),
      env: get('agent.env'),
      fallback: get('agent.fallback'),
      fallbackAfter: get('agent.fallback_after'),
      fallbackWaitMs: get('agent.fallback_wait'),
    },
    agents: get('agents'),
    bestOf: get('best_of'),
    choose: get('choose'),
    specModel: get('spec.model'),
    guidelines: get('guidelines'),
    maxDescriptionBytes: get('max_description_size'),
    maxWorkers: get('max_workers'),
    taskTimeoutMs: get('task_timeout'),
    maxAttempts: get('max_attempts'),
    plansFirst: get('plan'),
    taskContextCount: get('task_context_count'),
    taskContextMaxAgeMs: get('task_context_max_age'),
    noteCount: get('note_count'),
    review: resolveReviewSettings(get),
    maxCommitFileBytes: get('max_commit_file_size'),
    protectedPaths: get('protect.paths'),
    secretsAllowed: get('protect.secrets_allowed'),
    portableNames: get('protect.portable_names'),
    linksAllowed: get('protect.links_allowed'),
    maxOutputBytes: get('max_output_size'),
    defaultLabels: get('default_labels'),
    templates: get('templates'),
    worktreeRoot: get('worktree_root'),
    envAllow: get('env_allow'),
    ...readCommandSettings(get),
    worktree: {
      keepIgnored: get('worktree.keep_ignored'),
      sparse: sparse.length === 0 ? null : sparse,
      portsPerTask: get('worktree.ports_per_task'),
    },
    commit: { runHooks: get('commit.run_hooks') },
    checkout: { follow: get('checkout.follow') },
    forge: resolveForgeSettings(get),
    land: { mode: get('land.mode'), target: get('land.target') },
    budget: readBudgets(get),
    machine: { ...readMachineLimits(get), worktreesMaxBytes: get('worktree.disk_limit') },
    sandbox: readSandboxSettings(get),
    runsOn: get('runs_on'),
    remote: readRemoteSettings(get),
    backend: { idleTimeoutMs: get('backend.idle_timeout'), keepAwake: get('run.keep_awake') },
    onForecast: get('run.on_forecast'),
    databasePath: get('database'),
    fleetDatabaseUrl: get('fleet_database'),
    fleet: readFleetSettings(get, { name: '', agents: get('max_workers') }),
    webhooks: readWebhookSettings(get),
    retention: readRetentionSettings(get),
    otel: readTelemetrySettings(get),
  };
}
