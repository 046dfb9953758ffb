// Loads all settings of a project: flags, environment, `.drover.toml`, the user's file, defaults.

import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, isAbsolute, join, resolve } from 'node:path';
import {
  resolveSettings,
  type LoadedSettings,
  type SettingEntry,
  type SettingNote,
} from '../core/settings/settings-resolve.ts';
import {
  settingKeys,
  settingTable,
  type SettingDefinition,
  type SettingKey,
} from '../core/settings/settings.ts';
import { readSettingsFile } from './read-settings-file.ts';

export interface SettingsRequest {
  /** The folder that contains `.drover.toml`. */
  readonly root: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The command line's values by setting key, as text or typed; undefined = not given. */
  readonly flags: { readonly [K in SettingKey]?: unknown };
  /** The machine's policy requires the sandbox, whatever the files say. */
  readonly needsSandbox: boolean;
  /** Selects the entries of `.drover.toml` that take effect. Absent = all of them. */
  readonly judge?: (entries: readonly SettingEntry[]) => Promise<readonly SettingEntry[]>;
}

export const projectFileName = '.drover.toml';

/**
 * The user's settings file: `$XDG_CONFIG_HOME/drover/config.toml` or
 * `~/.config/drover/config.toml`.
 */
export function userSettingsPath(request: Pick<SettingsRequest, 'home' | 'env'>): string {
  const xdg = request.env['XDG_CONFIG_HOME'];
  // As that variable's specification requires, a relative path is ignored.
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : join(request.home, '.config');
  return join(base, 'drover', 'config.toml');
}

export async function loadSettings(request: SettingsRequest): Promise<LoadedSettings> {
  const userPath = userSettingsPath(request);
  const [project, user] = await Promise.all([
    readSettingsFile(join(request.root, projectFileName), projectFileName, 'refuse'),
    // Users often keep such files elsewhere and link to them.
    readSettingsFile(userPath, userPath, 'follow'),
  ]);
  const ofProject = (await request.judge?.(project.entries)) ?? project.entries;
  const loaded = resolveSettings([
    { source: 'policy', entries: policyEntries(request) },
    { source: 'flag', entries: flagEntries(request.flags) },
    { source: 'env', entries: environmentEntries(request.env) },
    { source: 'project', entries: ofProject },
    { source: 'user', entries: user.entries },
  ]);
  return {
    ...loaded,
    settings: {
      ...loaded.settings,
      worktreeRoot: worktreeRootOf(loaded, request),
      fleet: { ...loaded.settings.fleet, name: loaded.settings.fleet.name || hostWord() },
    },
    problems: [...project.problems, ...user.problems, ...loaded.problems].map(withFullStop),
  };
}

function policyEntries({ needsSandbox }: SettingsRequest): readonly SettingEntry[] {
  if (!needsSandbox) return [];
  return [{ key: 'sandbox.required', raw: true, form: 'typed', origin: 'the policy', line: null }];
}

/** The host name as a word, with a fallback for a host without one. */
function hostWord(): string {
  return (
    hostname()
      .replaceAll(/[\s,]+/g, '-')
      .replace(/^-+/, '')
      .slice(0, 64) || 'machine'
  );
}

/** The user's settings file applies to all projects, so each project gets its own folder there. */
function worktreeRootOf(loaded: LoadedSettings, request: SettingsRequest): string | null {
  const path = absolutePath(loaded.settings.worktreeRoot, request);
  if (path === null || loaded.values.worktree_root.source !== 'user') return path;
  const root = realPath(request.root);
  const hash = createHash('sha256').update(root).digest('hex').slice(0, projectHashLength);
  return join(path, `${basename(root)}-${hash}`);
}

/** Characters that distinguish projects with the same name. */
const projectHashLength = 10;

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function absolutePath(path: string | null, request: SettingsRequest): string | null {
  if (path === null) return null;
  if (path === '~' || path.startsWith('~/')) return resolve(request.home, path.slice(2));
  return resolve(request.root, path);
}

function definitionOf(key: SettingKey): SettingDefinition {
  return settingTable[key];
}

function flagEntries(flags: SettingsRequest['flags']): readonly SettingEntry[] {
  const entries: SettingEntry[] = [];
  for (const key of settingKeys) {
    const raw = flags[key];
    if (raw === undefined) continue;
    const origin = definitionOf(key).flag ?? `--${key}`;
    entries.push({ key, raw, form: 'text', origin, line: null });
  }
  return entries;
}

/** An empty variable counts as unset. */
function environmentEntries(env: SettingsRequest['env']): readonly SettingEntry[] {
  const entries: SettingEntry[] = [];
  for (const key of settingKeys) {
    const name = definitionOf(key).env;
    const raw = name === undefined ? undefined : env[name];
    if (name === undefined || raw === undefined || raw === '') continue;
    entries.push({ key, raw, form: 'text', origin: name, line: null });
  }
  return entries;
}

function withFullStop(note: SettingNote): SettingNote {
  return /[.?]$/.test(note.message) ? note : { ...note, message: `${note.message}.` };
}
