// What a run came to so far, folded from its events: from those of the log after a crash, and from
// each new one.

import { eventsOfLog } from '../kit/log/event-log-reader.ts';
import { noUsage } from '../port.ts';
import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';
import { isDenial } from './headless-events.ts';

export interface RunFacts {
  /** Model turns of this process, counted by their usage; some may have been dropped on the way. */
  readonly turns: number;
  /** Running total of the log: a part that is run again goes on counting. */
  readonly usage: Usage;
  /** Total before this process began. */
  readonly usageBefore: Usage;
  readonly deniedTools: readonly string[];
  /** Text after the last tool call; the program itself keeps no final answer. */
  readonly summary: string;
  readonly stderrTail: string;
  /** Names of calls whose result is still to come. */
  readonly openCalls: ReadonlyMap<string, string>;
  readonly hasExit: boolean;
}

const summaryCharsMax = 16_000;
const stderrCharsMax = 4_096;
const openCallsMax = 1_000;
const deniedToolsMax = 100;

export const noFacts: RunFacts = {
  turns: 0,
  usage: noUsage,
  usageBefore: noUsage,
  deniedTools: [],
  summary: '',
  stderrTail: '',
  openCalls: new Map(),
  hasExit: false,
};

export function withEvent(facts: RunFacts, event: AgentEvent): RunFacts {
  switch (event.type) {
    case 'started':
      return { ...noFacts, usage: facts.usage, usageBefore: facts.usage };
    case 'text':
      return { ...facts, summary: `${facts.summary}${event.text}`.slice(-summaryCharsMax) };
    case 'tool_call': {
      if (facts.openCalls.size >= openCallsMax) return facts;
      return { ...facts, openCalls: new Map(facts.openCalls).set(event.id, event.name) };
    }
    case 'tool_result': {
      const openCalls = new Map(facts.openCalls);
      const name = openCalls.get(event.id) ?? event.id;
      openCalls.delete(event.id);
      const isNew = isDenial(event) && !facts.deniedTools.includes(name);
      const hasRoom = facts.deniedTools.length < deniedToolsMax;
      const deniedTools = isNew && hasRoom ? [...facts.deniedTools, name] : facts.deniedTools;
      return { ...facts, openCalls, deniedTools, summary: '' };
    }
    case 'usage':
      return { ...facts, turns: facts.turns + 1, usage: event.usage };
    case 'output': {
      if (event.stream === 'stdout') return facts;
      const stderrTail = `${facts.stderrTail}${event.text}\n`.slice(-stderrCharsMax);
      return { ...facts, stderrTail };
    }
    case 'exit':
      return { ...facts, hasExit: true };
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

export function factsOfLog(logPath: string): RunFacts {
  let facts = noFacts;
  for (const event of eventsOfLog(logPath)) facts = withEvent(facts, event);
  return facts;
}
