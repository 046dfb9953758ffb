// How Drover Code is started: arguments, environment, and the prompt in the form that it expects.

import { jobFolder, jobPrompt } from '../../core/work/job-files.ts';
import type { AgentRequest, AgentSettings } from '../port.ts';

/** Files that are passed to a headless run. */
export interface StartFiles {
  readonly prompt: string;
  readonly result: string;
}

/** Stored beside the log, never in the worktree. */
export interface HeadlessFiles extends StartFiles {
  /** The commit at which the run started. */
  readonly base: string;
}

type Environment = Readonly<Record<string, string>>;

const wholeDaySeconds = 86_400;
const presets: ReadonlySet<string> = new Set(['bypass', 'default', 'unikernel']);

/**
 * They choose the mode or refer to another run, so only a user who configures this agent may set
 * them.
 */
const controlVariables: ReadonlySet<string> = new Set([
  'DROVER_CODE_HEADLESS',
  'DROVER_CODE_PERMISSION_PRESET',
  'DROVER_CODE_POST_HOOK_OWNER',
  'DROVER_CODE_PR_URL',
  'DROVER_CODE_TESTS_PASSED',
  'DROVER_CODE_TIMEOUT_SECS',
  'DROVER_CODE_COORDINATOR_MODE',
]);

/**
 * Never passed on, even if configured, because they would change where and in which format the
 * program responds.
 */
const ownVariables: ReadonlySet<string> = new Set([
  'DROVER_CODE_HEADLESS_PLAIN',
  'DROVER_CODE_RESULT_PATH',
  'DROVER_CODE_IDE_BRIDGE',
  'CLAUDE_CODE_IDE_BRIDGE',
]);

export function headlessFiles(logPath: string): HeadlessFiles {
  return {
    prompt: `${logPath}.prompt`,
    result: `${logPath}.result.json`,
    base: `${logPath}.base`,
  };
}

/** On a worker: relative to the workspace. */
export const workerResult = 'result.json';
export const workerFiles: StartFiles = {
  prompt: `${jobFolder}/${jobPrompt}`,
  result: `${jobFolder}/${workerResult}`,
};

export function headlessArguments(files: StartFiles, settings: AgentSettings): string[] {
  const own = ['--headless', '--prompt-file', files.prompt, '--result-json', files.result];
  return [...own, ...settings.args];
}

export function headlessEnvironment(
  request: AgentRequest,
  settings: AgentSettings,
): Record<string, string> {
  const seconds =
    request.timeoutMs === null ? wholeDaySeconds : Math.max(1, Math.ceil(request.timeoutMs / 1000));
  return {
    DROVER_CODE_TIMEOUT_SECS: String(seconds),
    ...commonEnvironment(request.env, settings),
    DROVER_CODE_JSONL: '1',
  };
}

/** The documentation names the second variable; the program reads the first. */
const bridgeSwitches = { DROVER_CODE_IDE_BRIDGE: '1', CLAUDE_CODE_IDE_BRIDGE: '1' } as const;

export function bridgeEnvironment(
  env: Environment,
  settings: AgentSettings,
): Record<string, string> {
  const { DROVER_CODE_HEADLESS: _headless, ...rest } = commonEnvironment(env, settings);
  return { ...rest, ...bridgeSwitches };
}

/**
 * A minimal environment: no key, no home, no workspace, and a closed port as the model's provider.
 */
export function probeEnvironment(path: string, home: string): Record<string, string> {
  return {
    PATH: path,
    HOME: home,
    USERPROFILE: home,
    ANTHROPIC_API_KEY: 'probe',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    DROVER_CODE_JSONL: '1',
    ...bridgeSwitches,
  };
}

function commonEnvironment(env: Environment, settings: AgentSettings): Record<string, string> {
  const kept = Object.entries(env).filter(
    ([name]) => !ownVariables.has(name) && (name in settings.env || !controlVariables.has(name)),
  );
  const { model, permissionMode } = settings;
  const isPreset = permissionMode !== null && presets.has(permissionMode);
  return {
    ...(isPreset ? { DROVER_CODE_PERMISSION_PRESET: permissionMode } : {}),
    ...Object.fromEntries(kept),
    ...(model === null || 'ANTHROPIC_MODEL' in settings.env ? {} : { ANTHROPIC_MODEL: model }),
  };
}

/**
 * A text that starts with a slash would be a command, and a blocked command exits as if it had
 * succeeded.
 */
export function promptText(text: string): string {
  return text.trimStart().startsWith('/') ? `The task is:\n${text}` : text;
}
