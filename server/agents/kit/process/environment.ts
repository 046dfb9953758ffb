// The environment of agents, gates and setups, built from lists and never inherited as a whole.

import type { AgentKind } from '../../../core/plan/task.ts';
import { knownSecrets } from '../../secrets/known-secrets.ts';
import { covers, isToolVariable } from './toolchain-variables.ts';
import { thisPlatform } from '../../../platform/this-platform.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** For every program: path, home, locale, terminal. A star at the end matches any suffix. */
const everyProgram = ['PATH', 'HOME', 'LANG', 'LANGUAGE', 'LC_*', 'TERM'];

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

/**
 * The variables that an agent inherits from `base`, then those given to it (`[agent.env]`, task id,
 * ports), which override them.
 */
export function agentEnvironment(
  base: Environment,
  kind: AgentKind,
  extra: Readonly<Record<string, string>>,
  allowList: readonly string[],
): Record<string, string> {
  const own = ownProvider[kind];
  // Inside a Claude Code session, its variables belong to that session, with its sockets and
  // tokens.
  const isOfOuterSession = (name: string): boolean =>
    base['CLAUDECODE'] !== undefined && name.startsWith('CLAUDE_CODE_');
  return {
    ...inherited(base, allowList, (name) => matches(name, own) && !isOfOuterSession(name)),
    ...extra,
  };
}

/**
 * The variables that a gate or a setup inherits: as for an agent, but without any provider's
 * variables. `CI` makes test runners run once and installers never ask. The user's own value
 * overrides it.
 */
export function commandEnvironment(
  base: Environment,
  allowList: readonly string[],
): Record<string, string> {
  return { CI: 'true', ...inherited(base, allowList, () => false) };
}

function inherited(
  base: Environment,
  allowList: readonly string[],
  isOwn: (name: string) => boolean,
): Record<string, string> {
  const always = [...everyProgram, ...thisPlatform.essentialVariables];
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) {
    if (value === undefined) continue;
    const isGiven = matches(name, always) || isToolVariable(name, value) || isOwn(name);
    if (isGiven || matches(name, allowList)) environment[name] = value;
  }
  return environment;
}

/** Matches credentials and settings of an agent's own provider, which a worker gets too. */
export function providerVariables(kind: string): (name: string) => boolean {
  const own = kind in ownProvider ? ownProvider[kind as AgentKind] : [];
  return (name) => matches(name, own);
}

function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => covers(pattern, name));
}

/** Values that must never be stored. */
export function secretValues(environment: Environment): string[] {
  return knownSecrets(environment).map(({ value }) => value);
}
