// The environment an agent gets: built from a list, never inherited as a whole.

import type { AgentKind } from './port.ts';
import { knownSecrets } from './secrets/known-secrets.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** For every agent: path, home, locale, terminal. A star at the end stands for any rest. */
const everyAgent = ['PATH', 'HOME', 'LANG', 'LANGUAGE', 'LC_*', 'TERM'];

/** Without these no program starts on Windows. */
const windowsBasics = [
  'Path',
  'PATHEXT',
  'SystemRoot',
  'SystemDrive',
  'ComSpec',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'TEMP',
  'TMP',
];

/** For agents that talk to a provider: the way out, and where the login of this user is kept. */
const networkAgent = [
  'USER',
  'LOGNAME',
  'SHELL',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
];

const ownProvider: Readonly<Record<AgentKind, readonly string[]>> = {
  claude: [
    'ANTHROPIC_*',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
    'CLAUDE_CODE_MAX_RETRIES',
  ],
  'drover-code': ['ANTHROPIC_*', 'OPENAI_*', 'DROVER_CODE_*'],
  codex: ['OPENAI_*', 'CODEX_*'],
  opencode: ['OPENCODE_*', 'ANTHROPIC_*', 'OPENAI_*'],
  gemini: ['GEMINI_*', 'GOOGLE_*'],
  copilot: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN'],
  amp: ['AMP_*'],
  acp: [],
  command: [],
  demo: [],
};

const withoutNetwork: ReadonlySet<AgentKind> = new Set(['command', 'demo']);

/** What an agent inherits of `base`, then the variables given to it (`[agent.env]`, task id, ports), which win. */
export function agentEnvironment(
  base: Environment,
  kind: AgentKind,
  extra: Readonly<Record<string, string>>,
  allowList: readonly string[],
): Record<string, string> {
  const inherited = [
    ...everyAgent,
    ...(process.platform === 'win32' ? windowsBasics : []),
    ...(withoutNetwork.has(kind) ? [] : networkAgent),
    ...ownProvider[kind],
  ];
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) {
    if (value === undefined) continue;
    const isAllowed = matches(name, allowList);
    // Inside a Claude Code session its variables belong to that session, with its sockets and tokens.
    const isOfOuterSession = base['CLAUDECODE'] !== undefined && name.startsWith('CLAUDE_CODE_');
    if (isAllowed || (matches(name, inherited) && !isOfOuterSession)) environment[name] = value;
  }
  return { ...environment, ...extra };
}

/** Whether a variable is the credential or the setting of an agent's own provider: such ones go with it to a worker. */
export function providerVariables(kind: string): (name: string) => boolean {
  const own = kind in ownProvider ? ownProvider[kind as AgentKind] : [];
  return (name) => matches(name, own);
}

function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}

/** Values that must never be stored. */
export function secretValues(environment: Environment): string[] {
  return knownSecrets(environment).map(({ value }) => value);
}
