// The name that an agent gave its session, stored beside the attempt's log: our own id is chosen
// before the start, the agent reports its id later, and only with that can the conversation be
// loaded again.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../../files/write-whole.ts';
import type { AgentRequest } from '../../port.ts';

/**
 * One name per way of driving: an attempt whose agent was changed does not take the other's session
 * for its own.
 */
export type SessionKeeper = 'acp' | 'amp';

function pathOf(keeper: SessionKeeper, request: AgentRequest): string {
  // An ACP conversation that planned stays in its read-only mode: the implementing agent starts a
  // new one with the whole task.
  const isPlan = keeper === 'acp' && request.planning === true;
  const name = isPlan ? `${request.sessionId}.plan` : request.sessionId;
  return join(dirname(request.logPath), `${name}.${keeper}.json`);
}

/** Returns null if no session exists, or it is not ours. */
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
