// How Claude Code is started: arguments, environment, and the folder of its conversations.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentSettings } from '../port.ts';

export interface InvocationOptions {
  readonly sessionId: string;
  readonly resume: boolean;
  /** The conversation that a new session starts from. */
  readonly forkOf?: string;
  /** Settings of the repository run code before the first prompt: only if a person trusts it. */
  readonly trusted: boolean;
  /** File that names Drover's own MCP server. */
  readonly toolsConfig?: string;
  /** Its own planning mode is used, whatever the settings contain. */
  readonly planning?: boolean;
}

/** Edits inside the worktree are the task; everything else is asked for. */
const permissionModeDefault = 'acceptEdits';

/**
 * Both directions in JSON lines; permission requests come to us; our messages are echoed when a
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

/** Prompts are never here: all users of the machine can see arguments. */
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
    // The last one counts.
    ...(options.planning === true ? ['--permission-mode', 'plan'] : []),
  ];
}

/** On a worker it cannot ask: it gets the whole prompt, and no conversation is kept there. */
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
 * The engine accepts or refuses requests to our own server by its rules, so no person has to allow
 * them.
 */
function toolArguments(config: string | undefined): string[] {
  return config === undefined ? [] : [`--mcp-config=${config}`, '--allowedTools=mcp__drover'];
}

/**
 * Only these of the many variables with this prefix are a user's or ours; others belong to an outer
 * session.
 */
const passed: ReadonlySet<string> = new Set([
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_MAX_RETRIES',
  // An outer session's never come here: these are given to an agent by the settings of telemetry
  // alone.
  'CLAUDE_CODE_ENABLE_TELEMETRY',
  'CLAUDE_CODE_ENHANCED_TELEMETRY_BETA',
  'CLAUDE_CODE_PROPAGATE_TRACEPARENT',
]);

/**
 * Background tasks would outlive the result; many agents with one key need few retries each,
 * because the queue pauses for all of them; the rest keeps a run from connecting to anything except
 * the model's provider.
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
 * Does a conversation with this id exist? Null if that is unknown. Only the file's name is checked.
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
