// Formats one line of an agent's log for people.

import { formatCount } from '../../core/format.ts';
import type { LoggedEvent, Usage } from '../../protocol/agent-events.ts';
import { logLineTimeMs, eventOfLine, type LogLineView } from '../../protocol/log-line.ts';
import { plainLine, plainText } from '../plain-text.ts';
import { clockText } from './figures.ts';

const resultLinesMax = 12;

export function logLine(line: LogLineView): string {
  const body = bodyOf(eventOfLine(line)).replaceAll('\n', '\n          ');
  return `${clockText(logLineTimeMs(line))}  ${body}`.trimEnd();
}

function bodyOf(event: LoggedEvent): string {
  switch (event.type) {
    case 'started':
      return `── ${plain(event.agent)} ${event.resumed ? 'resumes' : 'starts'} ${plain(event.model ?? '')}`;
    case 'text':
      return plain(event.text);
    case 'thinking':
      return `(thinks) ${plain(event.text)}`;
    case 'tool_call':
      return `→ ${plainLine(plain(event.title) || plain(event.name))}`;
    case 'tool_result':
      return `${event.isError ? '✗' : '←'} ${shortened(plain(event.text))}`;
    case 'output':
      return event.stream === 'stderr' ? `! ${plain(event.text)}` : plain(event.text);
    case 'retry':
      return `↻ the provider answered ${event.status ?? 'nothing'}: ${plainLine(plain(event.error))}`;
    case 'question':
      return `? ${plain(event.text)}`;
    case 'question_withdrawn':
      return '? withdrawn';
    case 'answered':
      return `? answered: ${plainLine(plain(event.choice))}`;
    case 'hint':
      return `hint (${event.state}): ${plain(event.text)}`;
    case 'note':
      return `· ${plain(event.text)}`;
    case 'exit':
      return exitText(event);
    case 'usage':
      return usageText(event.usage);
  }
}

function plain(text: string): string {
  return plainText(text).trimEnd();
}

function shortened(text: string): string {
  const lines = text.split('\n');
  if (lines.length <= resultLinesMax) return text;
  const left = lines.length - resultLinesMax;
  return [...lines.slice(0, resultLinesMax), `… ${left} more lines`].join('\n');
}

function exitText(event: Extract<LoggedEvent, { type: 'exit' }>): string {
  const { code, signal, ended = 0, left } = event;
  const how = signal === null ? `with ${String(code)}` : `by ${plainLine(signal)}`;
  const killed =
    ended === 0
      ? ''
      : `; ${formatCount(ended, 'process', 'processes')} that it left running killed`;
  const count = left === undefined ? '' : `; ${formatCount(left, 'process', 'processes')} left`;
  return `── ended ${how}${killed}${count}`;
}

function usageText({ inputTokens, outputTokens }: Usage): string {
  return `· ${inputTokens} tokens in, ${outputTokens} out`;
}
