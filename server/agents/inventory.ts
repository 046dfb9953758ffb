// The agents on this machine: found, version, signed in, and how to get missing parts. Programs
// that a project contains or names are not started, and login files are not read; their existence
// is enough.

import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join, relative } from 'node:path';
import { acpPrograms } from './acp/programs.ts';
import { claudeAccount } from './claude/account.ts';
import { agentEnvironment } from './kit/process/environment.ts';
import { findProgram } from './kit/process/find-program.ts';
import {
  askVersion,
  noVersionSentence,
  type VersionAnswer,
} from './kit/process/program-version.ts';
import { agentKinds, type AgentKind } from '../core/plan/task.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface NamedProgram {
  readonly path: string;
  /**
   * False if a file of the project names it, so that Drover searches for it but does not start it.
   */
  readonly byPerson: boolean;
}

export interface InventoryRequest {
  readonly env: Environment;
  readonly home: string;
  /** Paths in settings are relative to this folder. */
  readonly baseDir: string;
  /**
   * No program below this folder is started unless the user names it. Null outside of any project
   * and repository.
   */
  readonly projectDir: string | null;
  /** Programs named in settings, by agent kind. */
  readonly named: { readonly [K in AgentKind]?: NamedProgram };
  /** Drover's version, which is also the demo agent's. */
  readonly version: string;
}

export interface InventoryEntry {
  readonly kind: AgentKind;
  readonly found: boolean;
  /** Null if it was not asked for, or if none was printed. */
  readonly version: string | null;
  /** Null if only starting a task could tell. */
  readonly signedIn: boolean | null;
  readonly path: string | null;
  /** The next step, or the output that replaced its version. Null if nothing is missing. */
  readonly remedy: string | null;
  /** It failed when asked for its version. */
  readonly isBroken?: true;
}

interface KnownProgram {
  /** Name on PATH; null if only settings name it. */
  readonly program: string | null;
  readonly install: string;
  /** Null if the program has no such flag and would start a task instead. */
  readonly versionArguments: readonly string[] | null;
  readonly env: Readonly<Record<string, string>>;
  /** Variables that contain a login; one is enough. Null if that cannot be determined. */
  readonly keys: readonly string[] | null;
  /** Files below home that a login creates. */
  readonly logins: readonly string[];
  readonly signIn: string;
}

const versionFlag = ['--version'] as const;
const byPath = 'set [agent] path, or DROVER_AGENT_PATH, to its program';
const none = { env: {}, keys: null, logins: [], signIn: '' } as const;

const knownPrograms: { readonly [K in Exclude<AgentKind, 'demo'>]: KnownProgram } = {
  claude: {
    program: 'claude',
    install: 'npm install -g @anthropic-ai/claude-code',
    versionArguments: versionFlag,
    env: {},
    keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    logins: ['.claude/.credentials.json'],
    signIn: 'run "claude" and sign in, or set ANTHROPIC_API_KEY',
  },
  'drover-code': {
    program: 'drover-code',
    install: 'install Drover Code',
    versionArguments: null,
    env: {},
    keys: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'],
    logins: ['.drover-code/auth.json'],
    signIn: 'set ANTHROPIC_API_KEY or OPENAI_API_KEY',
  },
  codex: {
    ...acpPrograms.codex,
    versionArguments: versionFlag,
    keys: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    logins: ['.codex/auth.json'],
    signIn: 'run "codex login", or set OPENAI_API_KEY',
  },
  opencode: {
    ...acpPrograms.opencode,
    versionArguments: versionFlag,
    keys: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENCODE_API_KEY'],
    logins: ['.local/share/opencode/auth.json'],
    signIn: 'run "opencode auth login", or set the API key of a provider',
  },
  gemini: {
    ...acpPrograms.gemini,
    versionArguments: versionFlag,
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS'],
    logins: ['.gemini/oauth_creds.json'],
    signIn: 'run "gemini" and sign in, or set GEMINI_API_KEY',
  },
  copilot: {
    ...acpPrograms.copilot,
    versionArguments: versionFlag,
    keys: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'],
    logins: ['.copilot/config.json', '.config/github-copilot'],
    signIn: 'run "copilot" and /login, or set COPILOT_GITHUB_TOKEN',
  },
  amp: {
    program: 'amp',
    install: 'npm install -g @ampcode/cli',
    versionArguments: versionFlag,
    env: { AMP_SKIP_UPDATE_CHECK: '1' },
    keys: ['AMP_API_KEY'],
    logins: ['.local/share/amp/secrets.json'],
    signIn: 'run "amp login", or set AMP_API_KEY',
  },
  acp: { program: null, install: byPath, versionArguments: null, ...none },
  command: { program: null, install: byPath, versionArguments: null, ...none },
};

/** One entry per kind, in the order of `agentKinds`. */
export async function lookForAgents(request: InventoryRequest): Promise<readonly InventoryEntry[]> {
  return await Promise.all(agentKinds.map((kind) => lookFor(kind, request)));
}

async function lookFor(kind: AgentKind, request: InventoryRequest): Promise<InventoryEntry> {
  if (kind === 'demo') {
    const { version } = request;
    return { kind, found: true, version, signedIn: null, path: null, remedy: null };
  }
  const known = knownPrograms[kind];
  const named = request.named[kind];
  const name = named?.path ?? known.program;
  const path =
    name === null ? null : findProgram(name, withAbsolutePath(request.env), request.baseDir);
  if (path === null) {
    const remedy =
      named === undefined
        ? `${known.install}.`
        : `${named.path} was not found or cannot be executed: correct the path in the settings.`;
    return { kind, found: false, version: null, signedIn: null, path: null, remedy };
  }
  if (named === undefined ? isBelow(request.projectDir, path) : !named.byPerson) {
    const remedy =
      'Drover did not start this program to read its version, because the project contains or names it.';
    return { kind, found: true, version: null, signedIn: null, path, remedy };
  }
  const env = agentEnvironment(request.env, kind, known.env, []);
  const [answer, signedIn] = await Promise.all([
    versionIn(path, known, env),
    isSignedIn(kind, path, request),
  ]);
  const { version, ran, reason } = answer ?? { version: null, ran: true, reason: null };
  const entry = { kind, found: true, version, signedIn, path } as const;
  const remedies = [
    ...(reason === null ? [] : [noVersionSentence(path, reason)]),
    ...(ran && signedIn === false ? [`${known.signIn}.`] : []),
  ];
  const remedy = remedies.length === 0 ? null : remedies.join(' ');
  return { ...entry, remedy, ...(ran ? {} : { isBroken: true }) };
}

/** Drops relative entries, which depend on the current folder, because that may be a project. */
function withAbsolutePath(env: Environment): Environment {
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter);
  return { ...env, PATH: folders.filter((folder) => isAbsolute(folder)).join(delimiter) };
}

/** Runs in an empty folder, because programs read settings from the folder in which they start. */
async function versionIn(
  path: string,
  { versionArguments: args }: KnownProgram,
  env: Readonly<Record<string, string>>,
): Promise<VersionAnswer | null> {
  if (args === null) return null;
  const cwd = mkdtempSync(join(tmpdir(), 'drover-version-'));
  try {
    return await askVersion({ program: path, args, cwd, env });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

async function isSignedIn(
  kind: Exclude<AgentKind, 'demo'>,
  path: string,
  { env, home }: InventoryRequest,
): Promise<boolean | null> {
  const { keys, logins } = knownPrograms[kind];
  if (keys === null) return null;
  if (kind === 'claude') {
    const settings = { kind, path, args: [], env: {}, model: null, permissionMode: null };
    // It knows logins without a file, for example in a keychain or with a cloud provider.
    const account = await claudeAccount(path, agentEnvironment(env, kind, {}, []), settings);
    if (account !== null) return account.isSignedIn;
  }
  return (
    keys.some((key) => (env[key] ?? '') !== '') ||
    logins.some((file) => existsSync(placeOf(file, env, home)))
  );
}

/** Variables that move folders out of home. */
const movedFolders = {
  '.codex': 'CODEX_HOME',
  '.local/share': 'XDG_DATA_HOME',
  '.config': 'XDG_CONFIG_HOME',
} as const;

function placeOf(file: string, env: Environment, home: string): string {
  for (const [folder, variable] of Object.entries(movedFolders)) {
    const moved = env[variable] ?? '';
    if (isAbsolute(moved) && file.startsWith(`${folder}/`)) {
      return join(moved, file.slice(folder.length + 1));
    }
  }
  return join(home, file);
}

/** Resolves links too: both the location of the name and that of the file count. */
function isBelow(folder: string | null, path: string): boolean {
  if (folder === null) return false;
  const isInside = (from: string, to: string): boolean => {
    const way = relative(from, to);
    return way !== '' && !way.startsWith('..') && !isAbsolute(way);
  };
  try {
    return isInside(folder, path) || isInside(realpathSync(folder), realpathSync(path));
  } catch {
    return true;
  }
}
