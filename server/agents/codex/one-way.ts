// Codex on a worker: `codex exec` with JSON lines, because ACP would need input while it runs.

import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { OneWayAgent } from '../kit/run/one-way-run.ts';
import type { AgentRequest, AgentSettings } from '../port.ts';
import { CodexReader } from './reader.ts';

const sandboxes: ReadonlySet<string> = new Set([
  'read-only',
  'workspace-write',
  'danger-full-access',
]);

export function codexOneWay(settings: AgentSettings, request: AgentRequest): OneWayAgent {
  return {
    title: 'Codex',
    args: codexArguments(settings, request.planning === true),
    env: codexEnvironment(request.env),
    reader: (usageBefore) => new CodexReader(request, settings.model, usageBefore),
  };
}

/** The program beside its ACP adapter, unless the settings name one. */
export function codexProgram({ path }: AgentSettings): string {
  if (path === null) return 'codex';
  if (!/^codex-acp(\.\w+)?$/.test(basename(path))) return path;
  const beside = join(dirname(path), 'codex');
  return existsSync(beside) ? beside : 'codex';
}

export function codexArguments(settings: AgentSettings, planning: boolean): string[] {
  const mode = planning ? 'read-only' : (settings.permissionMode ?? 'workspace-write');
  return [
    'exec',
    '--json',
    '--color',
    'never',
    '--ephemeral',
    // If git is missing on the worker, there can be no repository.
    '--skip-git-repo-check',
    ...(mode === 'bypassPermissions'
      ? ['--dangerously-bypass-approvals-and-sandbox']
      : ['--sandbox', sandboxes.has(mode) ? mode : 'workspace-write']),
    ...(settings.model === null ? [] : ['--model', settings.model]),
    ...settings.args,
    // The prompt is read from standard input.
    '-',
  ];
}

/** Its exec mode accepts only one name for the key. */
function codexEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const key = env['CODEX_API_KEY'] ?? env['OPENAI_API_KEY'];
  return key === undefined ? { ...env } : { ...env, CODEX_API_KEY: key };
}
