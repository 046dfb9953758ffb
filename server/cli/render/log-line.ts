// One line of an agent's log as people read it.

import type { LogLineView } from '../../protocol/api.ts';
import { plainLine, plainText } from '../plain-text.ts';
import { clockText } from './figures.ts';

const resultLinesMax = 12;

export function logLine(line: LogLineView): string {
  const time = clockText(line.at > 1e11 ? line.at : line.at * 1000);
  return `${time}  ${bodyOf(line).replaceAll('\n', '\n          ')}`.trimEnd();
}

function bodyOf(line: LogLineView): string {
  const text = (key: string): string => {
    const value = line[key];
    return typeof value === 'string' ? plainText(value).trimEnd() : '';
  };
  switch (line.type) {
    case 'started':
      return `── ${text('agent')} ${line['resumed'] === true ? 'resumes' : 'starts'} ${text('model')}`;
    case 'text':
      return text('text');
    case 'thinking':
      return `(thinks) ${text('text')}`;
    case 'tool_call':
      return `→ ${plainLine(text('title') || text('name'))}`;
    case 'tool_result':
      return `${line['isError'] === true ? '✗' : '←'} ${shortened(text('text'))}`;
    case 'output':
      return line['stream'] === 'stderr' ? `! ${text('text')}` : text('text');
    case 'retry':
      return `↻ the provider answered ${typeof line['status'] === 'number' ? line['status'] : 'nothing'}: ${plainLine(text('error'))}`;
    case 'question':
      return `? ${text('text')}`;
    case 'question_withdrawn':
      return '? withdrawn';
    case 'answered':
      return `? answered: ${plainLine(text('choice'))}`;
    case 'hint':
      return `hint (${text('state')}): ${text('text')}`;
    case 'note':
      return `· ${text('text')}`;
    case 'exit':
      return exitText(line['code'], line['signal']);
    case 'usage':
      return usageText(line['usage']);
    default:
      return `· ${plainLine(line.type)} ${text('text')}`.trimEnd();
  }
}

function shortened(text: string): string {
  const lines = text.split('\n');
  if (lines.length <= resultLinesMax) return text;
  const left = lines.length - resultLinesMax;
  return [...lines.slice(0, resultLinesMax), `… ${left} more lines`].join('\n');
}

function exitText(code: unknown, signal: unknown): string {
  if (typeof signal === 'string') return `── ended by ${plainLine(signal)}`;
  return `── ended with ${String(code)}`;
}

function usageText(usage: unknown): string {
  if (typeof usage !== 'object' || usage === null) return '· usage';
  const number = (key: string): number => {
    const value = (usage as Record<string, unknown>)[key];
    return typeof value === 'number' ? value : 0;
  };
  return `· ${number('inputTokens')} tokens in, ${number('outputTokens')} out`;
}
