// The home folder that a confined program sees: separate for each kind of agent and project.
// Settings and the login are copied into it at every start, so that neither the user nor the next
// agent ever runs a file that an agent planted there.

import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  cpSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

const everybody = [
  '.gitconfig',
  '.config/git/config',
  '.config/git/ignore',
  '.config/git/attributes',
];

/**
 * Files below home that an agent needs to identify its user. Logins are copied only if they are
 * newer, because agents renew them.
 */
const ofKind: Readonly<Record<string, { settings: readonly string[]; logins: readonly string[] }>> =
  {
    claude: {
      settings: [
        '.claude/settings.json',
        '.claude/CLAUDE.md',
        '.claude/agents',
        '.claude/commands',
        '.claude/skills',
        '.claude/output-styles',
      ],
      logins: ['.claude/.credentials.json', '.claude.json'],
    },
    codex: {
      settings: ['.codex/config.toml', '.codex/AGENTS.md', '.codex/prompts'],
      logins: ['.codex/auth.json'],
    },
    opencode: {
      settings: ['.config/opencode'],
      logins: ['.local/share/opencode/auth.json'],
    },
    gemini: {
      settings: ['.gemini/settings.json', '.gemini/GEMINI.md'],
      logins: [
        '.gemini/oauth_creds.json',
        '.gemini/google_accounts.json',
        '.gemini/installation_id',
      ],
    },
    copilot: {
      settings: ['.copilot/mcp-config.json'],
      logins: ['.copilot/config.json', '.config/github-copilot'],
    },
    amp: {
      settings: ['.config/amp/settings.json'],
      logins: ['.local/share/amp/secrets.json'],
    },
    'drover-code': {
      settings: ['.config/drover-code', '.drover-code/config.json'],
      logins: ['.drover-code/auth.json'],
    },
  };

const copyBytesMax = 8 * 1024 * 1024;

/**
 * Prepares `folder` as the home of this kind. `home` is the user's, whose `.config` may be
 * elsewhere. A confined program finds it in its usual place.
 */
export function prepareHome(
  folder: string,
  kind: string,
  home: string,
  config = join(home, '.config'),
): void {
  const source = (name: string): string =>
    name.startsWith('.config/') ? join(config, name.slice('.config/'.length)) : join(home, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { settings, logins } = ofKind[kind] ?? { settings: [], logins: [] };
  for (const name of [...everybody, ...settings]) replace(source(name), folder, name);
  for (const name of logins)
    if (isNewer(source(name), join(folder, name))) replace(source(name), folder, name);
}

/**
 * Uses only renames relative to opened folders, because a running agent can replace any folder here
 * by a link to one of the user's.
 */
function replace(source: string, folder: string, name: string): void {
  const fresh = join(dirname(folder), `.new-${randomUUID()}`);
  const former = join(dirname(folder), `.old-${randomUUID()}`);
  copy(source, fresh);
  try {
    inFolder(folder, dirname(name), (at) => {
      const target = `${at}/${basename(name)}`;
      if (isThere(target)) renameSync(target, former);
      if (isThere(fresh)) renameSync(fresh, target);
    });
  } catch {
    // An agent that needs the file reports that it is missing.
  } finally {
    for (const path of [fresh, former]) rmSync(path, { recursive: true, force: true });
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function inFolder(folder: string, below: string, body: (at: string) => void): void {
  const opened: number[] = [];
  let at = folder;
  try {
    for (const part of below.split('/').filter((one) => one !== '.')) {
      const descriptor = openFolder(`${at}/${part}`);
      opened.push(descriptor);
      at = `/proc/self/fd/${descriptor}`;
    }
    body(at);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

const opensMax = 3;

/** Creates the folder, and replaces anything else at its path. */
function openFolder(path: string, time = 1): number {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  try {
    return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (time > opensMax) throw error;
    if (isThere(path)) unlinkSync(path);
    mkdirSync(path, { mode: 0o700 });
    return openFolder(path, time + 1);
  }
}

function isNewer(source: string, target: string): boolean {
  const [from, to] = [source, target].map((path) => lstatSync(path, { throwIfNoEntry: false }));
  return from !== undefined && (to === undefined || !to.isFile() || from.mtimeMs > to.mtimeMs);
}

/**
 * Follows links on the user's side, because dotfiles are often links. Omits large files and other
 * entries.
 */
function copy(source: string, target: string): void {
  try {
    const facts = statSync(source, { throwIfNoEntry: false });
    if (facts === undefined) return;
    if (facts.isFile() && facts.size > copyBytesMax) return;
    cpSync(source, target, {
      recursive: true,
      dereference: true,
      preserveTimestamps: true,
      filter: (path) => {
        const one = statSync(path, { throwIfNoEntry: false });
        return (
          one !== undefined && (one.isDirectory() || (one.isFile() && one.size <= copyBytesMax))
        );
      },
    });
  } catch {
    // An agent that needs the file reports that it is missing.
  }
}
