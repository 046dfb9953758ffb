// The facts in a log about the agent's current or last process. They are computed from the stored
// events and each new one, so they are the same after any crash of Drover.

import type { AgentEvent, Usage } from '../../../protocol/agent-events.ts';
import { noUsage } from '../../port.ts';
import { withLine } from '../wire/text-tail.ts';
import { eventsOfLog } from './event-log-reader.ts';

export interface LogFacts {
  /** Running total of the log. A part that runs again continues its count. */
  readonly usage: Usage;
  /** Total before this process started. */
  readonly usageBefore: Usage;
  /** Number of model turns, counted by their usage. Some may have been dropped from the log. */
  readonly turns: number;
  /** Text after the last tool call. */
  readonly summary: string;
  /**
   * Names of calls whose result is awaited. While one runs, the provider is not responsible for
   * silence.
   */
  readonly openCalls: ReadonlyMap<string, string>;
  /** Names of calls that were refused. */
  readonly deniedTools: readonly string[];
  /** The end of its output outside of the protocol. */
  readonly plainTail: string;
  /** The end of its standard error since it reported its start. */
  readonly stderrTail: string;
  readonly hasExit: boolean;
}

const summaryCharsMax = 16_000;
const tailCharsMax = 4_096;
const openCallsMax = 1_000;
const deniedToolsMax = 100;

export const noFacts: LogFacts = {
  usage: noUsage,
  usageBefore: noUsage,
  turns: 0,
  summary: '',
  openCalls: new Map(),
  deniedTools: [],
  plainTail: '',
  stderrTail: '',
  hasExit: false,
};

/** Whether this result means that the call was refused, which agents report in different ways. */
export type IsDenial = (result: Extract<AgentEvent, { type: 'tool_result' }>) => boolean;

/** The facts that carry over to a new process. */
export function forNextProcess({ usage }: LogFacts): LogFacts {
  return { ...noFacts, usage, usageBefore: usage };
}

export function withEvent(
  facts: LogFacts,
  event: AgentEvent,
  isDenial: IsDenial = () => false,
): LogFacts {
  // After an exit, later events belong to another process.
  const known = facts.hasExit ? forNextProcess(facts) : facts;
  switch (event.type) {
    case 'started':
      return { ...forNextProcess(known), plainTail: known.plainTail };
    case 'text':
      return { ...known, summary: `${known.summary}${event.text}`.slice(-summaryCharsMax) };
    case 'tool_call':
      if (known.openCalls.size >= openCallsMax) return known;
      return { ...known, openCalls: new Map(known.openCalls).set(event.id, event.name) };
    case 'tool_result':
      return withResult(known, event, isDenial);
    case 'usage':
      return { ...known, turns: known.turns + 1, usage: event.usage };
    case 'output': {
      const plainTail = withLine(known.plainTail, event.text, tailCharsMax);
      if (event.stream === 'stdout') return { ...known, plainTail };
      const stderrTail = withLine(known.stderrTail, event.text, tailCharsMax);
      return { ...known, plainTail, stderrTail };
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

function withResult(
  facts: LogFacts,
  event: Extract<AgentEvent, { type: 'tool_result' }>,
  isDenial: IsDenial,
): LogFacts {
  const openCalls = new Map(facts.openCalls);
  const name = openCalls.get(event.id) ?? event.id;
  openCalls.delete(event.id);
  const denied = facts.deniedTools;
  const isNew = isDenial(event) && !denied.includes(name) && denied.length < deniedToolsMax;
  return { ...facts, openCalls, deniedTools: isNew ? [...denied, name] : denied, summary: '' };
}

export function factsOfLog(logPath: string, isDenial?: IsDenial): LogFacts {
  let facts = noFacts;
  for (const event of eventsOfLog(logPath)) facts = withEvent(facts, event, isDenial);
  return facts;
}
