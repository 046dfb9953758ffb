// Reads a line of an agent's log as a typed value, whatever version wrote it. Does not use the
// schema, which is too large for a panel.

import type { AgentEvent, ForeignLine, LoggedEvent } from './agent-events.ts';

/** One line of an agent's log, as printed by `drover log --json` and shown by panels. */
export type LogLineView = LoggedEvent | ForeignLine;

const known: Readonly<Record<AgentEvent['type'], true>> = {
  started: true,
  text: true,
  thinking: true,
  tool_call: true,
  tool_result: true,
  output: true,
  retry: true,
  question: true,
  question_withdrawn: true,
  answered: true,
  hint: true,
  usage: true,
  note: true,
  exit: true,
};

/** The event of a line. A line of an unknown type becomes a note with its type. */
export function eventOfLine(line: LogLineView): LoggedEvent {
  if (isKnown(line)) return line;
  const text = typeof line['text'] === 'string' ? line['text'] : '';
  return { type: 'note', level: 'info', text: `${line.type} ${text}`.trim(), at: line.at };
}

function isKnown(line: LogLineView): line is LoggedEvent {
  return Object.hasOwn(known, line.type);
}

/**
 * Log lines contain Unix milliseconds; older ones contain seconds, which are recognized by their
 * size.
 */
export function logLineTimeMs({ at }: Pick<LogLineView, 'at'>): number {
  if (!Number.isFinite(at)) return 0;
  return at > 1e11 ? at : at * 1000;
}
