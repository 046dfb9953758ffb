// Starts git: only with argument arrays, and with a controlled environment, limited output, limited
// time and limited concurrency.

import { ownSettings, withoutHooks } from './environment.ts';
import type { Conversation, GitCommand } from '../git-command.ts';
import { ProcessConversation } from './conversation.ts';
import { runOnce, type GitRequest } from './run-once.ts';
import { type GitOutput } from '../git-command.ts';
import { Semaphore } from '../../core/work/semaphore.ts';

export interface GitProcesses {
  readonly run: (command: GitCommand) => Promise<GitOutput>;
  /** Starts a conversation. Each of its processes uses the command as it is then. */
  readonly converse: (command: () => Promise<GitCommand>) => Conversation;
}

/**
 * Runs a git process elsewhere if starting one here is expensive. Returns null if the caller must
 * run it itself.
 */
export type RunElsewhere = (
  request: GitRequest,
  signal: AbortSignal | null,
) => Promise<GitOutput> | null;

export interface GitProcessOptions {
  readonly binary: string;
  /** A minimal environment for local calls, which gives filters and drivers no secrets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly networkEnvironment?: Readonly<Record<string, string>>;
  /** Added to the settings of every process. */
  readonly settings?: readonly string[];
  readonly concurrency: number;
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
  readonly elsewhere?: RunElsewhere;
}

export function openGitProcesses(options: GitProcessOptions): GitProcesses {
  const semaphore = new Semaphore(options.concurrency);
  const start = (command: GitCommand): Promise<GitOutput> => {
    const request = requestOf(options, command);
    const signal = command.signal ?? null;
    return options.elsewhere?.(request, signal) ?? runOnce(request, signal);
  };
  return {
    run: (command) => semaphore.run(() => start(command), command.urgent),
    converse: (command) => new ProcessConversation(async () => requestOf(options, await command())),
  };
}

const noVariables: Readonly<Record<string, string>> = {};

function requestOf(options: GitProcessOptions, command: GitCommand): GitRequest {
  const mayLeaveOthers = command.network === true || command.userHooks === true;
  return {
    binary: options.binary,
    args: [
      ...ownSettings,
      ...(options.settings ?? []),
      ...(command.userHooks ? [] : withoutHooks),
      ...command.args,
    ],
    cwd: command.cwd,
    environment: (mayLeaveOthers ? options.networkEnvironment : null) ?? options.environment,
    addedEnvironment: command.env ?? noVariables,
    input: command.input ?? null,
    maxOutputBytes: options.maxOutputBytes,
    timeoutMs: command.timeoutMs ?? options.timeoutMs,
    truncate: command.truncate ?? false,
    mayLeaveOthers,
  };
}
