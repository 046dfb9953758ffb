// Permission requests of an agent over the Agent Client Protocol: how they are displayed and
// answered.

import type { PermissionOption, RequestPermissionRequest } from '@agentclientprotocol/sdk';

/** While planning, requests that write nothing need no person's answer. */
export function writes({ toolCall }: RequestPermissionRequest): boolean {
  return toolCall.kind === 'edit' || toolCall.kind === 'delete' || toolCall.kind === 'move';
}

export function questionText({ toolCall }: RequestPermissionRequest): string {
  const title = toolCall.title ?? toolCall.kind ?? 'a tool';
  const input = toolCall.rawInput === undefined ? '' : `\n${JSON.stringify(toolCall.rawInput)}`;
  return `May the agent do this: ${title}${input.slice(0, 4_000)}`;
}

/** An answer that is not one of the choices counts as a rejection. */
export function rejecting(options: readonly PermissionOption[]): PermissionOption | undefined {
  return options.find((option) => option.kind === 'reject_once');
}
