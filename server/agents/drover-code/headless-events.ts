// Converts Drover Code's headless output (JSON lines) to our events. It is telemetry: lines may be
// missing or truncated.

import type { IsDenial } from '../kit/log/log-facts.ts';
import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';

type Json = Readonly<Record<string, unknown>>;

/** The program's output for a tool call that its policy refused. */
const deniedText = 'denied by user';
const textCharsMax = 4_000;

/**
 * Parses one line of stdout. Returns null if it is not an event of the program. Unknown types are
 * events too.
 */
export function parseHeadlessLine(line: string): (Json & { readonly type: string }) | null {
  if (!line.trimStart().startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return null;
    const event = value as Json;
    const type = event['type'];
    return typeof type === 'string' ? { ...event, type } : null;
  } catch {
    return null;
  }
}

export const isDenial: IsDenial = ({ isError, text }) =>
  isError && (text.startsWith(deniedText) || /\bblocked by Warden\b/.test(text));

/**
 * Text comes in small pieces, which are joined to lines so that the log stays readable and small.
 */
export class HeadlessTranslator {
  readonly #usageBefore: Usage;
  /** Calls that have started but not ended. A denied call is never reported as started. */
  readonly #openCalls = new Set<string>();
  #text = '';

  constructor(usageBefore: Usage) {
    this.#usageBefore = usageBefore;
  }

  take(line: string): readonly AgentEvent[] {
    const event = parseHeadlessLine(line);
    if (event === null) {
      return line.trim() === ''
        ? []
        : [...this.flush(), { type: 'output', stream: 'stdout', text: line }];
    }
    if (event.type === 'text_delta') return this.#takeText(textAt(event, 'text'));
    const own = this.#translate(event);
    return own.length === 0 ? [] : [...this.flush(), ...own];
  }

  /** Emits the text that is still being joined. */
  flush(): readonly AgentEvent[] {
    const text = this.#text;
    this.#text = '';
    return text === '' ? [] : [{ type: 'text', text }];
  }

  #takeText(piece: string): readonly AgentEvent[] {
    this.#text += piece;
    return this.#text.endsWith('\n') || this.#text.length > textCharsMax ? this.flush() : [];
  }

  #translate(event: Json & { readonly type: string }): readonly AgentEvent[] {
    switch (event.type) {
      case 'tool_start': {
        const call = toolCall(event);
        this.#openCalls.add(call.id);
        return [call];
      }
      case 'tool_done':
      case 'tool_end': {
        const call = toolCall(event);
        const wasTold = this.#openCalls.delete(call.id);
        const text = textAt(event, 'output_summary');
        const isError = event['is_error'] === true;
        const result: AgentEvent = { type: 'tool_result', id: call.id, isError, text };
        return wasTold ? [result] : [call, result];
      }
      case 'usage':
        return [{ type: 'usage', usage: this.#usage(event) }];
      case 'compaction_start':
        return [{ type: 'note', level: 'info', text: 'Drover Code compacts its conversation.' }];
      case 'error':
        return [{ type: 'note', level: 'warning', text: textAt(event, 'message') }];
      default:
        return [];
    }
  }

  #usage(event: Json): Usage {
    const before = this.#usageBefore;
    return {
      inputTokens: before.inputTokens + countAt(event, 'total_input_tokens'),
      outputTokens: before.outputTokens + countAt(event, 'total_output_tokens'),
      cacheReadTokens: before.cacheReadTokens,
      costUsd: null,
    };
  }
}

function toolCall(event: Json): Extract<AgentEvent, { type: 'tool_call' }> {
  const name = textAt(event, 'name') || 'tool';
  const input = textAt(event, 'input_summary');
  const id = textAt(event, 'id') || `${name}-${countAt(event, 'call_index')}`;
  return { type: 'tool_call', id, name, title: input === '' ? name : `${name} ${input}`, input };
}

function textAt(event: Json, name: string): string {
  const value = event[name];
  return typeof value === 'string' ? value : '';
}

function countAt(event: Json, name: string): number {
  const value = event[name];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}
