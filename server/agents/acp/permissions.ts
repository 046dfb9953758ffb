// The requests of an agent to a person over the Agent Client Protocol, as we show and answer them.

import type { PermissionOption, RequestPermissionRequest } from '@agentclientprotocol/sdk';

/** While it plans, these need no person's answer. */
export function writes({ toolCall }: RequestPermissionRequest): boolean {
  return toolCall.kind === 'edit' || toolCall.kind === 'delete' || toolCall.kind === 'move';
}

export function questionText({ toolCall }: RequestPermissionRequest): string {
  const title = toolCall.title ?? toolCall.kind ?? 'a tool';
  const input = toolCall.rawInput === undefined ? '' : `\n${JSON.stringify(toolCall.rawInput)}`;
  return `May the agent do this: ${title}${input.slice(0, 4_000)}`;
}

/** An answer that is not one of the choices does not allow it. */
export function rejecting(options: readonly PermissionOption[]): PermissionOption | undefined {
  return options.find((option) => option.kind === 'reject_once');
}
