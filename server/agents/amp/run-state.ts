// What a process of Amp came to, for whoever follows it to its end: a small file for what its
// protocol said, and the log for the rest. So the outcome is the same after any crash of ours.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { eventsOfLog } from '../kit/log/event-log-reader.ts';
import { noUsage } from '../port.ts';
import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';
import { parseLine, textAt } from '../kit/wire/json-line.ts';
import type { AmpResult } from './translate.ts';

export interface AmpState {
  readonly hasBegun: boolean;
  readonly result: AmpResult | null;
  readonly exitIsTold: boolean;
}

export const newState: AmpState = { hasBegun: false, result: null, exitIsTold: false };

function statePath(logPath: string): string {
  return `${logPath}.amp-state.json`;
}

export function readState(logPath: string): AmpState {
  try {
    // Written by us alone, whole or not at all.
    return JSON.parse(readFileSync(statePath(logPath), 'utf8')) as AmpState;
  } catch {
    return newState;
  }
}

export function writeState(logPath: string, state: AmpState): void {
  const path = statePath(logPath);
  writeFileSync(`${path}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** What the log says of the process that runs. */
export interface LogFacts {
  /** Running total of the log: a part that is run again goes on counting. */
  readonly usage: Usage;
  /** Tools whose result is awaited: while one runs, silence is not the provider's. */
  readonly openTools: ReadonlySet<string>;
  /** The end of what it printed beside its protocol. */
  readonly plainTail: string;
}

export const noFacts: LogFacts = { usage: noUsage, openTools: new Set(), plainTail: '' };

const plainCharsMax = 4_096;
const openToolsMax = 1_000;
const leftoverCharsMax = 1_000_000;

export function withEvent(facts: LogFacts, event: AgentEvent): LogFacts {
  switch (event.type) {
    case 'started':
      return { ...facts, openTools: new Set() };
    case 'exit':
      return { ...noFacts, usage: facts.usage };
    case 'usage':
      return { ...facts, usage: event.usage };
    case 'tool_call':
      if (facts.openTools.size >= openToolsMax) return facts;
      return { ...facts, openTools: new Set(facts.openTools).add(event.id) };
    case 'tool_result': {
      const openTools = new Set(facts.openTools);
      openTools.delete(event.id);
      return { ...facts, openTools };
    }
    case 'output':
      return { ...facts, plainTail: `${facts.plainTail}${event.text}\n`.slice(-plainCharsMax) };
    case 'text':
    case 'thinking':
    case 'retry':
    case 'question':
    case 'question_withdrawn':
    case 'answered':
    case 'hint':
    case 'note':
      return facts;
  }
}

export function factsOfLog(logPath: string): LogFacts {
  let facts = noFacts;
  for (const event of eventsOfLog(logPath)) facts = withEvent(facts, event);
  return facts;
}

/** The thread that a process had begun whose lines nobody has read. */
export function threadInLeftovers(stdoutPath: string): string | null {
  let text: string;
  try {
    text = readFileSync(stdoutPath, 'utf8').slice(0, leftoverCharsMax);
  } catch {
    return null;
  }
  for (const line of text.split('\n')) {
    const message = parseLine(line);
    if (message?.['type'] === 'system') return textAt(message, 'session_id');
  }
  return null;
}
