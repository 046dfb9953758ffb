// How clients read a line of an agent's log: typed, whatever version wrote it. Without the schema,
// which is too heavy for a panel.

import type { AgentEvent, ForeignLine, LoggedEvent } from './agent-events.ts';

/** One line of an agent's log, as `drover log --json` prints it and the panels show it. */
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

/** The event of a line; one of an unknown type becomes a note with its type. */
export function eventOfLine(line: LogLineView): LoggedEvent {
  if (isKnown(line)) return line;
  const text = typeof line['text'] === 'string' ? line['text'] : '';
  return { type: 'note', level: 'info', text: `${line.type} ${text}`.trim(), at: line.at };
}

function isKnown(line: LogLineView): line is LoggedEvent {
  return Object.hasOwn(known, line.type);
}

/** Lines of the log carry Unix milliseconds; seconds are recognised by their size. */
export function atMsOf({ at }: Pick<LogLineView, 'at'>): number {
  if (!Number.isFinite(at)) return 0;
  return at > 1e11 ? at : at * 1000;
}
