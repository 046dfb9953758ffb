// The messages between the demo driver and the demo agent, one JSON object per line.

import type { AgentEvent } from '../../protocol/agent-events.ts';

export type ToDemo =
  | { readonly type: 'prompt'; readonly text: string }
  | { readonly type: 'answer'; readonly requestId: string; readonly choice: string | null }
  | { readonly type: 'hint'; readonly id: string; readonly text: string };

export type DemoResult =
  | {
      readonly type: 'result';
      readonly status: 'done';
      readonly summary: string;
      readonly blockedReason?: string;
    }
  | { readonly type: 'result'; readonly status: 'failed'; readonly message: string }
  | {
      readonly type: 'result';
      readonly status: 'limited';
      readonly untilMs: number;
      readonly message: string;
    };

/** The port's events, and the result. */
export type FromDemo = AgentEvent | DemoResult;

export const demoStateVariable = 'DROVER_DEMO_STATE';

export function encodeLine(message: ToDemo | FromDemo): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * Parses a message. Returns null for any other line (a warning of the runtime, an incomplete line).
 */
export function decodeLine<T extends ToDemo | FromDemo>(line: string): T | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'type' in value ? (value as T) : null;
  } catch {
    return null;
  }
}
