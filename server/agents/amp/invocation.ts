// How Amp is started. The prompt is passed on standard input. The token of Drover's tools is in a
// file, never in an argument.

import { rmSync, writeFileSync } from 'node:fs';
import type { AgentSettings, AgentTools } from '../port.ts';

/** The options that differ between starts. */
export interface AmpInvocation {
  readonly threadId: string | null;
  readonly toolsConfig: string | null;
  /**
   * It has no read-only mode. While planning, it must not do anything that its own rules forbid.
   */
  readonly planning: boolean;
}

export function ampArguments(settings: AgentSettings, invocation: AmpInvocation): string[] {
  const { threadId, toolsConfig, planning } = invocation;
  const isAllowedAll = settings.permissionMode === 'bypassPermissions' && !planning;
  return [
    ...(threadId === null ? [] : ['threads', 'continue', threadId]),
    '--execute',
    '--stream-json',
    '--stream-json-thinking',
    // An archived thread cannot be continued.
    '--no-archive-after-execute',
    // Files that the user has open in an editor are not part of the task.
    '--no-ide',
    ...(settings.model === null ? [] : ['--mode', settings.model]),
    ...(isAllowedAll ? ['--dangerously-allow-all'] : []),
    ...(toolsConfig === null ? [] : ['--mcp-config', toolsConfig]),
    ...settings.args,
  ];
}

export function ampEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  // Prevents Amp from replacing its program while it runs.
  return { AMP_SKIP_UPDATE_CHECK: '1', ...env };
}

export function toolsConfigPath(logPath: string): string {
  return `${logPath}.amp-mcp.json`;
}

/** Amp's list of servers has no surrounding `mcpServers`. */
export function writeToolsConfig(logPath: string, tools: AgentTools | undefined): string | null {
  if (tools === undefined) return null;
  const { command, args, env } = tools;
  const path = toolsConfigPath(logPath);
  writeFileSync(path, JSON.stringify({ drover: { command, args, env } }), { mode: 0o600 });
  return path;
}

export function removeToolsConfig(logPath: string): void {
  rmSync(toolsConfigPath(logPath), { force: true });
}
