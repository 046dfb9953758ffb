// Reads and formats the value of one setting: durations, sizes, choices, lists. Returns the
// expected form if a value is invalid.

import { agentSettingsExpected, readAgentSettings } from './agent-settings.ts';
import { err, ok, type Result } from '../failure.ts';
import { readSteps, stepsExpected } from '../work/fallback.ts';
import { intakeLabel } from '../forge/intake.ts';
import { isBranchPrefix } from '../work/ref-names.ts';
import { ageExpected, parseAge } from './retention.ts';
import { hostRuleExpected, parseHostRule } from './network-hosts.ts';
import { readStages, stagesExpected } from './gate-stages.ts';
import { readTemplates } from '../exchange/templates.ts';
import { endpointsExpected, isSecret, isWebhookUrl, readEndpoints } from './webhook-endpoints.ts';

export type ValueKind =
  | { readonly type: 'text' }
  | { readonly type: 'choice'; readonly choices: readonly string[] }
  | { readonly type: 'integer'; readonly min: number; readonly max: number }
  | { readonly type: 'number'; readonly min: number; readonly max: number }
  | { readonly type: 'boolean' }
  | { readonly type: 'duration'; readonly min: string; readonly max: string }
  | { readonly type: 'size'; readonly min: string; readonly max: string }
  | { readonly type: 'texts' }
  /** At most `max` characters, without spaces or commas, and never like an option. */
  | { readonly type: 'word'; readonly max: number }
  | { readonly type: 'words'; readonly max: number }
  /** Relative paths below the project folder, without `..`. */
  | { readonly type: 'paths' }
  /** The prefix of Drover's branches. */
  | { readonly type: 'branch prefix' }
  /** Selects issues by a label, such as `label:drover`. */
  | { readonly type: 'issues' }
  /** A choice, or a list of hosts. */
  | { readonly type: 'network'; readonly choices: readonly string[] }
  /** Names of environment variables. */
  | { readonly type: 'variables' }
  /** Environment variables with their values. */
  | { readonly type: 'environment' }
  /** Agents in order, each with an optional model. */
  | { readonly type: 'steps' }
  /** Values for single agents, such as `codex.path`. */
  | { readonly type: 'agents' }
  /** Tables of task templates. */
  | { readonly type: 'templates' }
  /** Stages of a gate. */
  | { readonly type: 'stages' }
  /** Tables of webhook endpoints. */
  | { readonly type: 'endpoints' }
  /** A web URL without user and password. Its path may be secret. */
  | { readonly type: 'url' }
  | { readonly type: 'secret' }
  /** A maximum age: `90d`, `forever`. */
  | { readonly type: 'age' }
  | { readonly type: 'sqlite' }
  | { readonly type: 'postgres' };

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Parses a Go duration (`90s`, `60m`, `1h30m`, `0`) to milliseconds. Returns null if it is not a
 * duration.
 */
export function parseDuration(text: string): number | null {
  if (text === '0') return 0;
  if (text.length > 64 || !/^([0-9]+(\.[0-9]*)?(ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return null;
  let total = 0;
  for (const [, digits, unit] of text.matchAll(/([0-9]+(?:\.[0-9]*)?)([a-zµμ]+)/g)) {
    total += Number(digits) * (unitMs[unit ?? ''] ?? 0);
  }
  return Number.isFinite(total) ? Math.round(total) : null;
}

const unitBytes: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KB: 1024,
  MB: 1024 ** 2,
  GB: 1024 ** 3,
};

/**
 * Parses `10MB`, `512KB`, `1GB` (units of 1024) or plain bytes. Returns null if it is not a size.
 */
export function parseSize(text: string): number | null {
  const match = /^([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([KMG]?B)?$/i.exec(text.trim());
  if (match === null) return null;
  const bytes = Number(match[1]) * (unitBytes[(match[2] ?? '').toUpperCase()] ?? 1);
  return Number.isSafeInteger(Math.round(bytes)) ? Math.round(bytes) : null;
}

/** Returns the path in `sqlite:///absolute/path`, or null for any other text. */
export function parseSqliteUrl(text: string): string | null {
  const match = /^sqlite:\/\/(\/[^?#\0]+)$/.exec(text);
  const path = match?.[1];
  if (path === undefined || path.startsWith('//') || path.endsWith('/')) return null;
  // `sqlite:///C:/data/drover.db`: the slash before the drive belongs to the URL.
  return /^\/[A-Za-z]:\//.test(path) ? path.slice(1) : path;
}

export function expectedText(kind: ValueKind): string {
  switch (kind.type) {
    case 'text':
      return 'a string';
    case 'choice':
      return `one of ${kind.choices.join(', ')}`;
    case 'integer':
      return `a whole number from ${kind.min} to ${kind.max}`;
    case 'number':
      return `a number from ${kind.min} to ${kind.max}`;
    case 'boolean':
      return 'true or false';
    case 'duration':
      return `a duration from ${kind.min} to ${kind.max}, as "90s" or "1h30m"`;
    case 'size':
      return `a size from ${kind.min} to ${kind.max}, as "10MB"`;
    case 'texts':
      return 'a list of strings';
    case 'word':
      return `1 to ${kind.max} characters without spaces and commas, not beginning with "-"`;
    case 'words':
      return `a list of words, each of 1 to ${kind.max} characters without spaces and commas`;
    case 'paths':
      return 'a list of paths inside the project (relative, without `..`)';
    case 'issues':
      return 'a label of issues, as "label:drover"';
    case 'branch prefix':
      return 'the beginning of a branch name that contains "drover" and ends with "/", "-" or "_" (at most 60 characters)';
    case 'network':
      return `one of ${kind.choices.join(', ')}, or a list of ${hostRuleExpected}`;
    case 'variables':
      return 'a list of names of environment variables';
    case 'environment':
      return 'a table of environment variables, each with a string';
    case 'steps':
      return stepsExpected;
    case 'agents':
      return agentSettingsExpected;
    case 'templates':
      return 'tables of templates, as [templates.bug]';
    case 'stages':
      return stagesExpected;
    case 'endpoints':
      return endpointsExpected;
    case 'url':
      return 'a URL as "https://host/path"';
    case 'secret':
      return 'a string without spaces';
    case 'age':
      return ageExpected;
    case 'sqlite':
      return 'sqlite:///absolute/path';
    case 'postgres':
      return 'postgresql://user@host/database';
  }
}

/** Reads a value from TOML (`typed`), or from a flag or a variable (`text`). */
export function readValue(
  kind: ValueKind,
  raw: unknown,
  form: 'typed' | 'text',
): Result<unknown, string> {
  if (kind.type === 'templates') return readTemplates(raw);
  if (kind.type === 'stages') return readStages(raw, isInnerPath);
  if (kind.type === 'endpoints') return readEndpoints(raw);
  const value = valueOf(kind, raw, form);
  return value === undefined ? err(expectedText(kind)) : ok(value);
}

function valueOf(
  kind: Exclude<ValueKind, { readonly type: 'templates' | 'stages' | 'endpoints' }>,
  raw: unknown,
  form: 'typed' | 'text',
): unknown {
  switch (kind.type) {
    case 'text':
      return typeof raw === 'string' && !raw.includes('\0') ? raw : undefined;
    case 'choice':
      return typeof raw === 'string' && kind.choices.includes(raw) ? raw : undefined;
    case 'integer': {
      const value = form === 'text' && typeof raw === 'string' ? integerOf(raw) : raw;
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) return undefined;
      return value >= kind.min && value <= kind.max ? value : undefined;
    }
    case 'number': {
      const value = form === 'text' && typeof raw === 'string' ? numberOf(raw) : raw;
      if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
      return value >= kind.min && value <= kind.max ? value : undefined;
    }
    case 'boolean':
      // For compatibility, any text other than "true" and "1" means false.
      if (form === 'text' && typeof raw === 'string') return raw === 'true' || raw === '1';
      return typeof raw === 'boolean' ? raw : undefined;
    case 'duration':
      return typeof raw === 'string' ? within(raw, kind, parseDuration) : undefined;
    case 'size':
      return typeof raw === 'string' || typeof raw === 'number'
        ? within(String(raw), kind, parseSize)
        : undefined;
    case 'texts':
      return listOf(raw, form, (item) => item.trim() !== '' && !item.includes('\0'));
    case 'word':
      return typeof raw === 'string' && isWord(raw, kind.max) ? raw : undefined;
    case 'words':
      return listOf(raw, form, (item) => isWord(item, kind.max));
    case 'paths':
      return listOf(raw, form, isInnerPath);
    case 'issues':
      return typeof raw === 'string' && intakeLabel(raw) !== null ? raw : undefined;
    case 'branch prefix':
      return typeof raw === 'string' && isBranchPrefix(raw) ? raw : undefined;
    case 'network':
      if (typeof raw === 'string' && kind.choices.includes(raw)) return raw;
      return listOf(raw, 'typed', (item) => parseHostRule(item) !== null);
    case 'variables':
      return listOf(raw, form, (item) => variableName.test(item));
    case 'environment':
      return environmentOf(raw);
    case 'steps': {
      const steps = readSteps(raw);
      return steps.ok ? steps.value : undefined;
    }
    case 'agents':
      return readAgentSettings(raw);
    case 'url':
      return isWebhookUrl(raw) ? raw : undefined;
    case 'secret':
      return isSecret(raw) ? raw : undefined;
    case 'age':
      return typeof raw === 'string' ? (parseAge(raw) ?? undefined) : undefined;
    case 'sqlite':
      return typeof raw === 'string' ? (parseSqliteUrl(raw) ?? undefined) : undefined;
    case 'postgres':
      return typeof raw === 'string' && /^postgres(ql)?:\/\/\S+$/.test(raw) ? raw : undefined;
  }
}

function isWord(text: string, max: number): boolean {
  return text.length <= max && /^[^\s,\p{C}-][^\s,\p{C}]*$/u.test(text);
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

function integerOf(text: string): number | undefined {
  return /^[+-]?[0-9]{1,15}$/.test(text.trim()) ? Number(text.trim()) : undefined;
}

function numberOf(text: string): number | undefined {
  return /^[0-9]{1,12}(\.[0-9]{1,9})?$/.test(text.trim()) ? Number(text.trim()) : undefined;
}

function within(
  text: string,
  limits: { readonly min: string; readonly max: string },
  parse: (text: string) => number | null,
): number | undefined {
  const value = parse(text);
  if (value === null) return undefined;
  const inside = value >= (parse(limits.min) ?? 0) && value <= (parse(limits.max) ?? Infinity);
  return inside ? value : undefined;
}

function listOf(
  raw: unknown,
  form: 'typed' | 'text',
  isItem: (item: string) => boolean,
): readonly string[] | undefined {
  const items: unknown =
    form === 'text' && typeof raw === 'string'
      ? raw.split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]))
      : raw;
  if (!Array.isArray(items) || items.length > 1_000) return undefined;
  const texts: string[] = [];
  for (const item of items as readonly unknown[]) {
    if (typeof item !== 'string' || !isItem(item)) return undefined;
    texts.push(item);
  }
  return texts;
}

/** Whether a relative path stays inside its folder on every system. */
export function isInnerPath(path: string): boolean {
  if (path.trim() === '' || path.includes('\0')) return false;
  if (/^[/\\~]/.test(path) || /^[A-Za-z]:/.test(path)) return false;
  return !path.split(/[/\\]/).includes('..');
}

function environmentOf(raw: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined;
  const entries: [string, string][] = [];
  for (const [name, value] of Object.entries(raw)) {
    if (!variableName.test(name) || typeof value !== 'string' || value.includes('\0')) {
      return undefined;
    }
    entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}
