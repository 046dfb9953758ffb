// The session id that an agent reported, stored beside the attempt's log. Our own id is chosen
// before the start; only the agent's id allows the conversation to be loaded again.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../../files/write-whole.ts';
import type { AgentRequest } from '../../port.ts';

/**
 * One name per way of driving, so that an attempt whose agent was changed does not use the other
 * agent's session.
 */
export type SessionKeeper = 'acp' | 'amp';

function pathOf(keeper: SessionKeeper, request: AgentRequest): string {
  // An ACP conversation that planned stays in its read-only mode, so the implementing agent starts
  // a new one with the whole task.
  const isPlan = keeper === 'acp' && request.planning === true;
  const name = isPlan ? `${request.sessionId}.plan` : request.sessionId;
  return join(dirname(request.logPath), `${name}.${keeper}.json`);
}

/** Returns null if no session exists or it is not ours. */
export function readKeptSession(keeper: SessionKeeper, request: AgentRequest): string | null {
  try {
    const kept: unknown = JSON.parse(readFileSync(pathOf(keeper, request), 'utf8'));
    if (typeof kept !== 'object' || kept === null) return null;
    const { id } = kept as Readonly<Record<string, unknown>>;
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

export function keepSession(keeper: SessionKeeper, request: AgentRequest, id: string): void {
  const path = pathOf(keeper, request);
  replaceFile(path, JSON.stringify({ id }));
}
