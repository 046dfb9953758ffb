// Converts Amp's output (stream-json, in Claude Code's format) to events, and collects the facts
// that the outcome needs.

import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';
import { contentText, toolTitle } from '../kit/wire/message-blocks.ts';
import { addUsage, usageOfMessage } from '../kit/wire/usage.ts';
import {
  asObject,
  objectAt,
  objectsAt,
  parseLine,
  textAt,
  type Json,
} from '../kit/wire/json-line.ts';

/**
 * How a run ended according to Amp. Stored on disk, so that a backend that adopts it knows it too.
 */
export interface AmpResult {
  readonly subtype: string;
  readonly isError: boolean;
  /** The last message, or the error. */
  readonly text: string;
  readonly deniedTools: readonly string[];
}

export interface AmpNews {
  readonly events: readonly AgentEvent[];
  /** The name of Amp's thread, from the first line that contains it. */
  readonly threadId?: string;
  readonly result?: AmpResult;
}

export interface AmpTranslatorOptions {
  readonly cwd: string;
  readonly resumed: boolean;
  readonly usageBefore: Usage;
}

const deniedToolsMax = 100;

export class AmpTranslator {
  readonly #options: AmpTranslatorOptions;
  #usage: Usage;
  /** The message whose usage was counted last. Later lines with the same id repeat it. */
  #lastMessage: { readonly id: string; readonly usage: Usage } | null = null;

  constructor(options: AmpTranslatorOptions) {
    this.#options = options;
    this.#usage = options.usageBefore;
  }

  /**
   * Handles one line of standard output. A line that is not a protocol message is passed on
   * unchanged.
   */
  take(line: string): AmpNews {
    if (line.trim() === '') return { events: [] };
    const message = parseLine(line);
    switch (message?.['type']) {
      case 'system':
        return this.#takeSystem(message);
      case 'assistant':
        return { events: this.#takeAssistant(objectAt(message, 'message')) };
      case 'user':
        return { events: takeToolResults(objectAt(message, 'message')) };
      case 'result':
        return { events: [], result: readResult(message) };
      default:
        return {
          events: message === null ? [{ type: 'output', stream: 'stdout', text: line }] : [],
        };
    }
  }

  #takeSystem(message: Json): AmpNews {
    if (message['subtype'] !== 'init') return { events: [] };
    const sessionId = textAt(message, 'session_id');
    const model = textAt(message, 'agent_mode');
    const { resumed } = this.#options;
    const started = { type: 'started', agent: 'amp', sessionId, resumed } as const;
    const events = [model === null ? started : { ...started, model }];
    return sessionId === null ? { events } : { events, threadId: sessionId };
  }

  #takeAssistant(message: Json): AgentEvent[] {
    const events = objectsAt(message, 'content').flatMap((block) => this.#takeBlock(block));
    if (asObject(message['usage']) === null) return events;
    return [...events, { type: 'usage', usage: this.#count(message) }];
  }

  #count(message: Json): Usage {
    const id = textAt(message, 'id');
    const usage = usageOfMessage(message);
    if (id === null || id !== this.#lastMessage?.id) this.#usage = addUsage(this.#usage, usage);
    this.#lastMessage = id === null ? null : { id, usage };
    return this.#usage;
  }

  #takeBlock(block: Json): AgentEvent[] {
    switch (block['type']) {
      case 'text':
        return someText('text', textAt(block, 'text'));
      case 'thinking':
        return someText('thinking', textAt(block, 'thinking'));
      case 'tool_use': {
        const name = textAt(block, 'name') ?? '';
        const input = asObject(block['input']) ?? {};
        const title = toolTitle(name, input, this.#options.cwd);
        return [{ type: 'tool_call', id: textAt(block, 'id') ?? '', name, title, input }];
      }
      default:
        return [];
    }
  }
}

function someText(type: 'text' | 'thinking', text: string | null): AgentEvent[] {
  return text === null || text === '' ? [] : [{ type, text }];
}

/** Our own prompt is repeated as a user message. Only tool results are new. */
function takeToolResults(message: Json): AgentEvent[] {
  return objectsAt(message, 'content').flatMap((block): AgentEvent[] => {
    if (block['type'] !== 'tool_result') return [];
    const id = textAt(block, 'tool_use_id') ?? '';
    const isError = block['is_error'] === true;
    return [{ type: 'tool_result', id, isError, text: contentText(block['content']) }];
  });
}

function readResult(message: Json): AmpResult {
  const subtype = textAt(message, 'subtype') ?? '';
  const denials = message['permission_denials'];
  const deniedTools = Array.isArray(denials)
    ? denials.filter((one): one is string => typeof one === 'string')
    : [];
  return {
    subtype,
    // An unknown subtype does not count as success.
    isError: message['is_error'] === true || subtype !== 'success',
    text: textAt(message, 'error') ?? textAt(message, 'result') ?? '',
    deniedTools: [...new Set(deniedTools)].slice(0, deniedToolsMax),
  };
}
