// Settings of a repository that could do harm: they name programs, gates, environment variables or
// sandbox rules, or control the removal of data. A value takes effect only after a person accepts
// it. A value that an agent landed waits until then.

import type { SettingEntry } from './settings-resolve.ts';
import type { SettingKey } from './settings.ts';

/**
 * All other settings in a repository's file are limits, sizes and texts, and take effect directly.
 */
const powerKeys: ReadonlySet<string> = new Set<SettingKey>([
  'agent.kind',
  'agent.path',
  'agent.args',
  'agent.permission_mode',
  'agent.env',
  'agent.fallback',
  'agents',
  'env_allow',
  'gate.command',
  'gate.stages',
  'setup.command',
  'setup.copy',
  'gate.env_allow',
  'gate.network',
  'gate.keep',
  'gate.needs',
  'setup.env_allow',
  'setup.network',
  'worktree_root',
  'commit.run_hooks',
  'land.mode',
  'land.target',
  'review.agent',
  'forge.base',
  'forge.merge',
  'forge.reviewers',
  'forge.bots',
  'forge.report',
  'forge.intake',
  'sandbox.mode',
  'sandbox.network',
  'sandbox.read',
  'sandbox.write',
  'sandbox.required',
  'runs_on',
  'remote.provisioner',
  'remote.image',
  'remote.socket',
  'remote.metro',
  'remote.env',
  'remote.agent_path',
  'remote.url',
  'remote.git_remote',
  'remote.token_variable',
  'remote.host',
  'remote.ssh_args',
  'remote.hook',
  'fleet.remote',
  'fleet.branch_prefix',
  'protect.paths',
  'protect.secrets_allowed',
  'protect.portable_names',
  'protect.links_allowed',
  'retention.events',
  'retention.past',
  'retention.logs',
  'retention.snapshots',
  'retention.verdicts',
  'retention.webhooks',
  'retention.notes',
  'retention.steps',
  'telemetry.enabled',
  'telemetry.endpoint',
  'telemetry.agents',
  'webhooks.enabled',
  'webhooks.url',
  'webhooks.secret',
  'webhooks.allow_private',
  'web.url',
  'webhooks.endpoints',
]);

/**
 * Maps the name of a setting, or of one table entry such as `agent.env.NAME`, to its value as
 * written.
 */
export type Powers = Readonly<Record<string, unknown>>;

export interface PowerChange {
  readonly name: string;
  /** Undefined if the accepted file did not contain it. */
  readonly accepted: unknown;
  readonly present: unknown;
}

/**
 * Lists the sensitive settings among a file's entries. If a name occurs twice, the later value
 * applies.
 */
export function listPowers(entries: readonly SettingEntry[]): Powers {
  const powers = new Map<string, unknown>();
  for (const { key, raw } of entries) {
    if (!powerKeys.has(key)) continue;
    if (isTable(raw))
      for (const [name, value] of Object.entries(raw)) powers.set(`${key}.${name}`, value);
    else powers.set(key, raw);
  }
  return Object.fromEntries(powers);
}

export function changedPowers(accepted: Powers, present: Powers): readonly PowerChange[] {
  const names = [...new Set([...Object.keys(accepted), ...Object.keys(present)])].sort();
  return names
    .filter((name) => !sameValue(accepted[name], present[name]))
    .map((name) => ({ name, accepted: accepted[name], present: present[name] }));
}

/** Replaces the sensitive settings among the entries. */
export function withPowers(
  entries: readonly SettingEntry[],
  powers: Powers,
): readonly SettingEntry[] {
  const others = entries.filter(({ key }) => !powerKeys.has(key));
  const lines = new Map(entries.map(({ key, line }) => [key, line]));
  const origin = entries[0]?.origin ?? '.drover.toml';
  const raws = new Map<string, unknown>();
  for (const [name, value] of Object.entries(powers)) {
    const key = keyOf(name);
    if (name === key) raws.set(key, value);
    else raws.set(key, { ...tableOf(raws.get(key)), [name.slice(key.length + 1)]: value });
  }
  const own = [...raws].map(([key, raw]): SettingEntry => ({
    key,
    raw,
    form: 'typed',
    origin,
    line: lines.get(key) ?? null,
  }));
  return [...others, ...own];
}

/** Returns the current values, but the accepted values for held names. */
export function powersWithout(
  held: ReadonlySet<string>,
  accepted: Powers,
  present: Powers,
): Powers {
  const names = [...new Set([...Object.keys(accepted), ...Object.keys(present)])];
  const used = names.map((name): [string, unknown] => [
    name,
    (held.has(name) ? accepted : present)[name],
  ]);
  return Object.fromEntries(used.filter(([, value]) => value !== undefined));
}

/**
 * Formats a setting as one line for a person. Omits the values of variables, URLs and keys, which
 * may be secret.
 */
export function shownPower(name: string, value: unknown): string {
  if (value === undefined) return `${name} (removed)`;
  const isSecret = name.startsWith('agent.env.') || name.startsWith('webhooks.');
  return isSecret ? name : `${name} = ${JSON.stringify(value)}`;
}

/** Returns the names in the groups (`remote.`, `agent.path`) whose value no person has accepted. */
export function unacceptedAmong(
  groups: readonly string[],
  accepted: Powers,
  present: Powers,
): readonly string[] {
  const names = changedPowers(accepted, present).map(({ name }) => name);
  return names.filter((name) => groups.some((group) => name.startsWith(group)));
}

export function sameValue(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && b !== undefined && canonical(a) === canonical(b));
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isTable(part) ? Object.fromEntries(Object.entries(part).sort(byName)) : part,
  );
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Returns the setting that a name belongs to: the name itself, or the table that has it as an
 * entry.
 */
function keyOf(name: string): string {
  if (powerKeys.has(name)) return name;
  return [...powerKeys].find((table) => name.startsWith(`${table}.`)) ?? name;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function tableOf(value: unknown): Readonly<Record<string, unknown>> {
  return isTable(value) ? value : {};
}
