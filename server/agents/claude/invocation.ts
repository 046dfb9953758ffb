// How Claude Code is started: arguments, environment, and the folder of its conversations.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentSettings } from '../port.ts';

export interface InvocationOptions {
  readonly sessionId: string;
  readonly resume: boolean;
  /** The conversation that a new session starts from. */
  readonly forkOf?: string;
  /**
   * The repository's settings run code before the first prompt, so they apply only if the user
   * trusts it.
   */
  readonly trusted: boolean;
  /** The file that names Drover's MCP server. */
  readonly toolsConfig?: string;
  /** If true, its own planning mode is used, whatever the settings say. */
  readonly planning?: boolean;
}

/** Edits inside the worktree are the task; everything else needs permission. */
const permissionModeDefault = 'acceptEdits';

/**
 * JSON lines in both directions. Permission requests come to us, and our messages are echoed when a
 * turn takes them.
 */
const formatArguments = [
  '--input-format',
  'stream-json',
  '--output-format',
  'stream-json',
  '--verbose',
  '--permission-prompt-tool',
  'stdio',
  '--replay-user-messages',
];

/** Prompts are never arguments, because all users of the machine can see arguments. */
export function claudeArguments(settings: AgentSettings, options: InvocationOptions): string[] {
  return [
    '-p',
    ...formatArguments,
    ...sessionArguments(options),
    ...sourceArguments(options.trusted),
    ...modeArguments(options.planning === true ? null : settings),
    ...toolArguments(options.toolsConfig),
    ...(settings.model === null ? [] : ['--model', settings.model]),
    ...settings.args,
    // The last mode counts.
    ...(options.planning === true ? ['--permission-mode', 'plan'] : []),
  ];
}

/** On a worker it cannot ask, so it gets the whole prompt. No conversation is kept there. */
export function claudeOneWayArguments(
  settings: AgentSettings,
  options: Pick<InvocationOptions, 'trusted' | 'planning'>,
): string[] {
  const mode = settings.permissionMode ?? permissionModeDefault;
  return [
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    '--no-session-persistence',
    ...sourceArguments(options.trusted),
    ...(options.planning === true ? [] : ['--permission-mode', mode]),
    ...(settings.model === null ? [] : ['--model', settings.model]),
    ...settings.args,
    ...(options.planning === true ? ['--permission-mode', 'plan'] : []),
  ];
}

function sessionArguments({ sessionId, resume, forkOf }: InvocationOptions): readonly string[] {
  if (resume) return ['--resume', sessionId];
  const own = ['--session-id', sessionId];
  return forkOf === undefined ? own : ['--resume', forkOf, '--fork-session', ...own];
}

function sourceArguments(trusted: boolean): readonly string[] {
  return trusted
    ? ['--setting-sources', 'user,project']
    : ['--setting-sources', 'user', '--strict-mcp-config'];
}

function modeArguments(settings: AgentSettings | null): string[] {
  return settings === null
    ? []
    : ['--permission-mode', settings.permissionMode ?? permissionModeDefault];
}

/**
 * The engine accepts or refuses requests to our own server by its rules, so the user need not allow
 * them.
 */
function toolArguments(config: string | undefined): string[] {
  return config === undefined ? [] : [`--mcp-config=${config}`, '--allowedTools=mcp__drover'];
}

/**
 * Only these of the many variables with this prefix are set by the user or by Drover. The others
 * belong to an outer session.
 */
const passed: ReadonlySet<string> = new Set([
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_MAX_RETRIES',
  // An outer session's variables never reach this point. Only telemetry settings pass these to an
  // agent.
  'CLAUDE_CODE_ENABLE_TELEMETRY',
  'CLAUDE_CODE_ENHANCED_TELEMETRY_BETA',
  'CLAUDE_CODE_PROPAGATE_TRACEPARENT',
]);

/**
 * Disables background tasks, which would outlive the result. Reduces retries, because the queue
 * pauses for all agents that share a key. The rest prevents connections to anything except the
 * model's provider.
 */
const defaults: Readonly<Record<string, string>> = {
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  CLAUDE_CODE_MAX_RETRIES: '3',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_AUTOUPDATER: '1',
};

export function claudeEnvironment(
  env: Readonly<Record<string, string>>,
  settings: AgentSettings,
): Record<string, string> {
  const kept = Object.entries(env).filter(
    ([name]) =>
      name in settings.env ||
      passed.has(name) ||
      !(name === 'CLAUDECODE' || name.startsWith('CLAUDE_CODE_')),
  );
  return { ...defaults, ...Object.fromEntries(kept) };
}

/**
 * Whether a conversation with this id exists. Returns null if unknown. Only checks the file's name.
 */
export function hasConversation(
  env: Readonly<Record<string, string>>,
  sessionId: string,
): boolean | null {
  const home = env['HOME'] ?? env['USERPROFILE'];
  const config = env['CLAUDE_CONFIG_DIR'] ?? (home === undefined ? null : join(home, '.claude'));
  if (config === null) return null;
  try {
    const projects = join(config, 'projects');
    if (!existsSync(projects)) return false;
    return readdirSync(projects).some((name) =>
      existsSync(join(projects, name, `${sessionId}.jsonl`)),
    );
  } catch {
    return null;
  }
}
