// Reads lines of an agent's log into a closed set of events. A line may come from another version, or from an agent that
// lies: every field is checked, and what is not known is kept as a note.

import type { LogLineView } from '../../../server/protocol/views.ts';

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
}

export type StreamEvent =
  | {
      readonly type: 'started';
      readonly agent: string;
      readonly model: string;
      readonly resumed: boolean;
    }
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  | {
      readonly type: 'tool_call';
      readonly id: string;
      readonly name: string;
      readonly title: string;
      readonly input: unknown;
    }
  | {
      readonly type: 'tool_result';
      readonly id: string;
      readonly isError: boolean;
      readonly text: string;
    }
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly delayMs: number;
      readonly status: number | null;
      readonly error: string;
    }
  | {
      readonly type: 'question';
      readonly requestId: string;
      readonly kind: 'permission' | 'question';
      readonly text: string;
      readonly choices: readonly string[];
    }
  | { readonly type: 'question_withdrawn'; readonly requestId: string }
  | { readonly type: 'answered'; readonly requestId: string; readonly choice: string }
  | {
      readonly type: 'hint';
      readonly id: string;
      readonly text: string;
      readonly state: 'sent' | 'delivered' | 'dropped';
    }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'note'; readonly level: 'info' | 'warning'; readonly text: string }
  | { readonly type: 'exit'; readonly code: number | null; readonly signal: string | null };

export function readLogLine(line: LogLineView): StreamEvent {
  switch (line.type) {
    case 'started':
      return {
        type: 'started',
        agent: text(line, 'agent'),
        model: text(line, 'model'),
        resumed: line['resumed'] === true,
      };
    case 'text':
    case 'thinking':
      return { type: line.type, text: text(line, 'text') };
    case 'tool_call':
      return {
        type: 'tool_call',
        id: text(line, 'id'),
        name: text(line, 'name'),
        title: text(line, 'title'),
        input: line['input'],
      };
    case 'tool_result':
      return {
        type: 'tool_result',
        id: text(line, 'id'),
        isError: line['isError'] === true,
        text: text(line, 'text'),
      };
    case 'output': {
      const stream = line['stream'] === 'stderr' ? 'stderr' : 'stdout';
      return { type: 'output', stream, text: text(line, 'text') };
    }
    case 'retry':
      return {
        type: 'retry',
        attempt: number(line['attempt']) ?? 1,
        delayMs: number(line['delayMs']) ?? 0,
        status: number(line['status']),
        error: text(line, 'error'),
      };
    case 'usage':
      return { type: 'usage', usage: usageOf(line['usage']) };
    case 'exit': {
      const signal = line['signal'];
      return {
        type: 'exit',
        code: number(line['code']),
        signal: typeof signal === 'string' ? signal : null,
      };
    }
    default:
      return readConversationLine(line);
  }
}

function readConversationLine(line: LogLineView): StreamEvent {
  switch (line.type) {
    case 'question':
      return {
        type: 'question',
        requestId: text(line, 'requestId'),
        kind: line['kind'] === 'permission' ? 'permission' : 'question',
        text: text(line, 'text'),
        choices: texts(line['choices']),
      };
    case 'question_withdrawn':
      return { type: 'question_withdrawn', requestId: text(line, 'requestId') };
    case 'answered':
      return {
        type: 'answered',
        requestId: text(line, 'requestId'),
        choice: text(line, 'choice'),
      };
    case 'hint': {
      const state = line['state'];
      return {
        type: 'hint',
        id: text(line, 'id'),
        text: text(line, 'text'),
        state: state === 'delivered' || state === 'dropped' ? state : 'sent',
      };
    }
    case 'note': {
      const level = line['level'] === 'warning' ? 'warning' : 'info';
      return { type: 'note', level, text: text(line, 'text') };
    }
    default:
      return { type: 'note', level: 'info', text: `${line.type} ${text(line, 'text')}`.trim() };
  }
}

/** Lines of the log carry Unix milliseconds; seconds are recognised by their size. */
export function atMsOf(line: LogLineView): number {
  const at = number(line.at) ?? 0;
  return at > 1e11 ? at : at * 1000;
}

function usageOf(value: unknown): TokenUsage {
  const usage = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  return {
    inputTokens: (number(usage['inputTokens']) ?? 0) + (number(usage['cacheReadTokens']) ?? 0),
    outputTokens: number(usage['outputTokens']) ?? 0,
    costUsd: number(usage['costUsd']),
  };
}

function text(line: LogLineView, key: string): string {
  const value = line[key];
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((one): one is string => typeof one === 'string').slice(0, 20);
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
