// Parses one settings file into entries with line numbers. An unreadable part is reported as a
// problem with its location, never thrown.

import { ParseError, getStaticTOMLValue, parseTOML, type AST } from 'toml-eslint-parser';
import { isAgentSetting } from '../core/settings/agent-settings.ts';
import {
  isSettingKey,
  type SettingEntry,
  type SettingNote,
} from '../core/settings/settings-resolve.ts';
import { settingKeys } from '../core/settings/settings.ts';
import { refused, type SettingsFile } from './settings-file.ts';

export function parseSettingsText(text: string, name: string): SettingsFile {
  let program: AST.TOMLProgram;
  try {
    program = parseTOML(text.replace(/^\uFEFF/, ''), { tomlVersion: '1.0' });
  } catch (error) {
    if (error instanceof RangeError)
      return refused(name, null, `${name}: not TOML: too many levels of brackets; write fewer`);
    if (!(error instanceof ParseError)) throw error;
    const line = error.lineNumber;
    const place = `${name}, line ${line}: `;
    return refused(name, line, place + (agentTwice(text) ?? notToml(text, error)));
  }
  const collected: Collected = { name, entries: [], problems: [] };
  for (const part of program.body[0].body) {
    if (part.type === 'TOMLKeyValue') {
      collect(collected, [], part);
      continue;
    }
    const path = part.resolvedKey.map(String);
    if (part.kind === 'array') {
      const problem = `\`${path[0] ?? ''}\` is a list of tables; use one table: [${path[0] ?? ''}]`;
      collected.problems.push(noteAt(collected, part, path[0] ?? '', problem));
      continue;
    }
    collectTable(collected, path, part.body, part);
  }
  return { entries: collected.entries, problems: collected.problems };
}

/** The value itself may be a secret, so only its key is named. */
function notToml(text: string, { lineNumber, message }: ParseError): string {
  const line = text.split(/\r?\n/)[lineNumber - 1] ?? '';
  const key = /^\s*([\w."-]{1,80}?)\s*=/.exec(line)?.[1] ?? null;
  return key === null ? `not TOML: ${message}` : `not TOML at \`${key}\`: ${message}`;
}

/** TOML cannot express both, so the message explains how to write it. */
function agentTwice(text: string): string | null {
  const asText = /^[ \t]*agent[ \t]*=[ \t]*["']/m.test(text);
  const asTable =
    /^[ \t]*\[[ \t]*agent[ \t]*[\].]/m.test(text) || /^[ \t]*agent[ \t]*\./m.test(text);
  if (!asText || !asTable) return null;
  return (
    '`agent` is both a string and a table; TOML allows only one of them. Write the kind into the table: ' +
    '[agent] with kind = "…", and [agent.env] below it'
  );
}

interface Collected {
  readonly name: string;
  readonly entries: SettingEntry[];
  readonly problems: SettingNote[];
}

/** Settings whose value is a table with free names. */
const freeTables: ReadonlySet<string> = new Set(['agent.env']);

/** Tables of tables with free names, by the path of the setting's key. */
const namedTables: readonly (readonly string[])[] = [
  ['templates'],
  ['webhooks', 'endpoints'],
  ['gate', 'stages'],
];

/** The table of tables that contains the path; null if none does. */
function namedTableOf(path: readonly string[]): readonly string[] | null {
  return namedTables.find((table) => table.every((name, at) => path[at] === name)) ?? null;
}

const tableNames: ReadonlySet<string> = new Set(
  settingKeys.flatMap((key) => (key.includes('.') ? [key.slice(0, key.indexOf('.'))] : [])),
);

function collectTable(
  to: Collected,
  path: readonly string[],
  body: readonly AST.TOMLKeyValue[],
  node: AST.TOMLNode,
): void {
  const key = path.join('.');
  const named = namedTableOf(path);
  if (named !== null) {
    if (body.length === 0) addNamed(to, node, named, path, {});
    for (const pair of body) collect(to, path, pair);
    return;
  }
  if (freeTables.has(key)) {
    addFree(to, key, node, bodyValue(body));
    return;
  }
  if (isSettingKey(key) && key !== 'agents') {
    // A table instead of a value. The reader reports the expected kind.
    to.entries.push(entryOf(to, key, {}, node));
    return;
  }
  if (body.length === 0 && !tableNames.has(key) && key !== 'agents')
    to.entries.push(entryOf(to, key, {}, node));
  for (const pair of body) collect(to, path, pair);
}

function bodyValue(body: readonly AST.TOMLKeyValue[]): Record<string, unknown> {
  const value: [string, unknown][] = body.map((pair) => {
    const keys = getStaticTOMLValue(pair.key);
    // A dotted name cannot be a variable's name, so the whole table is refused.
    return [keys.join('.'), getStaticTOMLValue(pair.value)];
  });
  return Object.fromEntries(value);
}

function collect(to: Collected, path: readonly string[], pair: AST.TOMLKeyValue): void {
  const full = [...path, ...getStaticTOMLValue(pair.key)];
  const key = full.join('.');
  if (isAgentSetting(full)) {
    addFree(to, 'agents', pair, { [full.slice(1).join('.')]: getStaticTOMLValue(pair.value) });
    return;
  }
  const named = namedTableOf(full);
  if (named !== null) {
    addNamed(to, pair, named, full, getStaticTOMLValue(pair.value));
    return;
  }
  const free = [...freeTables].find((table) => key.startsWith(`${table}.`));
  if (free !== undefined) {
    const name = key.slice(free.length + 1);
    addFree(to, free, pair, { [name]: getStaticTOMLValue(pair.value) });
    return;
  }
  if (pair.value.type === 'TOMLInlineTable') {
    collectTable(to, full, pair.value.body, pair);
    return;
  }
  const value: unknown = getStaticTOMLValue(pair.value);
  if (key === 'agent') {
    to.entries.push(entryOf(to, 'agent.kind', value, pair));
  } else if (tableNames.has(key)) {
    const problem = `\`${key}\` is a value; use a table: [${key}]`;
    to.problems.push(noteAt(to, pair, key, problem));
  } else {
    to.entries.push(entryOf(to, key, value, pair));
  }
}

/** All ways to write a table lead to the same entry. */
function addNamed(
  to: Collected,
  node: AST.TOMLNode,
  table: readonly string[],
  path: readonly string[],
  value: unknown,
): void {
  const inner = path.slice(table.length);
  const raw = inner.reduceRight<unknown>((below, name) => ({ [name]: below }), value);
  const key = table.join('.');
  const at = to.entries.findIndex((entry) => entry.key === key);
  const before = to.entries[at];
  if (before === undefined) to.entries.push(entryOf(to, key, raw, node));
  else to.entries[at] = { ...before, raw: mergedTables(before.raw, raw) };
}

function mergedTables(a: unknown, b: unknown): unknown {
  if (!isTable(a) || !isTable(b)) return b;
  const merged = Object.entries(b).map(([key, value]): [string, unknown] => [
    key,
    Object.hasOwn(a, key) ? mergedTables(a[key], value) : value,
  ]);
  return { ...a, ...Object.fromEntries(merged) };
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Dotted names of a free table (`agent.env.A = "1"`) are parsed one at a time and combined. */
function addFree(
  to: Collected,
  key: string,
  node: AST.TOMLNode,
  names: Record<string, unknown>,
): void {
  const at = to.entries.findIndex((entry) => entry.key === key);
  const before = to.entries[at];
  if (before === undefined) {
    to.entries.push(entryOf(to, key, names, node));
  } else {
    to.entries[at] = { ...before, raw: { ...(before.raw as Record<string, unknown>), ...names } };
  }
}

function entryOf(to: Collected, key: string, raw: unknown, node: AST.TOMLNode): SettingEntry {
  return { key, raw, form: 'typed', origin: to.name, line: node.loc.start.line };
}

function noteAt(to: Collected, node: AST.TOMLNode, key: string, problem: string): SettingNote {
  const line = node.loc.start.line;
  return { origin: to.name, line, key, message: `${to.name}, line ${line}: ${problem}` };
}
