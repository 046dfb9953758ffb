// Converts Claude Code's output to events and facts. Keeps only the data that later lines and the
// outcome need. Has no side effects.

import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';
import { readPermissionRequest, type PermissionRequest } from './permissions.ts';
import { usageSinceLastResult } from './wire.ts';
import { addUsage, usageOfMessage } from '../kit/wire/usage.ts';
import {
  asObject,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  type Json,
} from '../kit/wire/json-line.ts';
import { contentText, toolTitle } from '../kit/wire/message-blocks.ts';

/** Messages that the driver must react to. Everything else is in `facts`. */
export type Notice =
  | { readonly kind: 'event'; readonly event: AgentEvent }
  | {
      readonly kind: 'permission';
      readonly request: PermissionRequest;
      readonly plan: string | null;
    }
  | { readonly kind: 'permission_withdrawn'; readonly requestId: string }
  | { readonly kind: 'unknown_request'; readonly requestId: string }
  | { readonly kind: 'message_state'; readonly uuid: string; readonly state: string }
  | {
      readonly kind: 'retry';
      readonly status: number | null;
      readonly delayMs: number;
      readonly error: string;
    }
  | { readonly kind: 'result' };

/** The facts that decide the outcome. */
export interface ClaudeFacts {
  hasStarted: boolean;
  hasMessages: boolean;
  isTurnOpen: boolean;
  /** The last result line. One process may print several. */
  result: Json | null;
  /** The last assistant line that represents an API error. */
  apiError: Json | null;
  /** When a subscription's limit resets (Unix ms), from a rejecting rate_limit_event. */
  limitUntilMs: number | null;
  isLimitRejected: boolean;
  /** The last plan that it submitted. */
  plan: string | null;
  /** Tools whose result is awaited. While one runs, the API is not responsible for the silence. */
  readonly openTools: Set<string>;
  /** Usage of messages that no result has included yet. */
  unaccounted: Map<string, Usage>;
  usage: Usage;
}

export interface TranslatorOptions {
  readonly cwd: string;
  readonly sessionId: string;
  readonly resumed: boolean;
  /** The usage of earlier processes of this run. */
  readonly usageBefore: Usage;
}

/** Calls of these tools wait for other model calls, so silence during them is the API's. */
const agentTools: ReadonlySet<string> = new Set(['Agent', 'Task']);

export class Translator {
  readonly facts: ClaudeFacts;
  readonly #options: TranslatorOptions;
  /** ExitPlanMode asks with an empty input, because the plan is in the preceding call. */

  constructor(options: TranslatorOptions) {
    this.#options = options;
    this.facts = {
      hasStarted: false,
      hasMessages: false,
      isTurnOpen: false,
      result: null,
      apiError: null,
      limitUntilMs: null,
      isLimitRejected: false,
      plan: null,
      openTools: new Set(),
      unaccounted: new Map(),
      usage: options.usageBefore,
    };
  }

  take(line: Json): Notice[] {
    switch (line['type']) {
      case 'system':
        return this.#takeSystem(line);
      case 'assistant':
        return this.#takeAssistant(line);
      case 'user':
        return line['isReplay'] === true ? [] : this.#takeUser(line);
      case 'result':
        return this.#takeResult(line);
      case 'rate_limit_event':
        return this.#takeRateLimit(line);
      case 'control_request':
        return takeRequest(line, this.facts.plan);
      case 'control_cancel_request':
        return [{ kind: 'permission_withdrawn', requestId: textAt(line, 'request_id') ?? '' }];
      case 'command_lifecycle':
        return this.#takeMessageState(line);
      default:
        return [];
    }
  }

  #takeSystem(line: Json): Notice[] {
    switch (line['subtype']) {
      case 'init':
        return this.#takeInit(line);
      case 'api_retry':
        return retryNotices(line);
      case 'permission_denied':
        return [note('info', textAt(line, 'message') ?? 'A tool was denied.')];
      case 'status':
        return line['status'] === 'compacting'
          ? [note('info', 'Compacting the conversation.')]
          : [];
      default:
        return [];
    }
  }

  /** Repeated in every turn. Only the first one is reported. */
  #takeInit(line: Json): Notice[] {
    this.facts.isTurnOpen = true;
    if (this.facts.hasStarted) return [];
    this.facts.hasStarted = true;
    const model = textAt(line, 'model');
    const { sessionId, resumed } = this.#options;
    const started = { type: 'started', agent: 'claude', sessionId, resumed } as const;
    return [{ kind: 'event', event: model === null ? started : { ...started, model } }];
  }

  #takeAssistant(line: Json): Notice[] {
    const message = objectAt(line, 'message');
    if (line['is_api_error_message'] === true) {
      this.facts.apiError = line;
      return [note('warning', contentText(message['content']))];
    }
    this.facts.hasMessages = true;
    this.facts.apiError = null;
    this.facts.unaccounted.set(textAt(message, 'id') ?? '', usageOfMessage(message));
    return objectsAt(message, 'content').flatMap((block) => this.#takeBlock(block));
  }

  #takeBlock(block: Json): Notice[] {
    switch (block['type']) {
      case 'text':
        return [{ kind: 'event', event: { type: 'text', text: textAt(block, 'text') ?? '' } }];
      case 'thinking': {
        const text = textAt(block, 'thinking') ?? '';
        return text === '' ? [] : [{ kind: 'event', event: { type: 'thinking', text } }];
      }
      case 'tool_use': {
        const id = textAt(block, 'id') ?? '';
        const name = textAt(block, 'name') ?? '';
        const input = asObject(block['input']) ?? {};
        if (!agentTools.has(name)) this.facts.openTools.add(id);
        if (name === 'ExitPlanMode') this.facts.plan = textAt(input, 'plan');
        const title = toolTitle(name, input, this.#options.cwd);
        return [{ kind: 'event', event: { type: 'tool_call', id, name, title, input } }];
      }
      default:
        return [];
    }
  }

  #takeUser(line: Json): Notice[] {
    return objectsAt(objectAt(line, 'message'), 'content').flatMap((block): Notice[] => {
      if (block['type'] !== 'tool_result') return [];
      const id = textAt(block, 'tool_use_id') ?? '';
      this.facts.openTools.delete(id);
      const isError = block['is_error'] === true;
      const text = withoutErrorTag(contentText(block['content']));
      return [{ kind: 'event', event: { type: 'tool_result', id, isError, text } }];
    });
  }

  #takeResult(line: Json): Notice[] {
    const { facts } = this;
    facts.isTurnOpen = false;
    facts.result = line;
    facts.openTools.clear();
    facts.unaccounted.clear();
    facts.usage = addUsage(facts.usage, usageSinceLastResult(line));
    return [{ kind: 'event', event: { type: 'usage', usage: facts.usage } }, { kind: 'result' }];
  }

  #takeRateLimit(line: Json): Notice[] {
    const { facts } = this;
    const info = objectAt(line, 'rate_limit_info');
    facts.isLimitRejected = info['status'] === 'rejected';
    const resetsAt = numberAt(info, 'resetsAt');
    facts.limitUntilMs = facts.isLimitRejected && resetsAt !== null ? unixMs(resetsAt) : null;
    if (info['status'] !== 'allowed_warning') return [];
    return [note('warning', 'The account is close to its usage limit.')];
  }

  #takeMessageState(line: Json): Notice[] {
    const uuid = textAt(line, 'command_uuid') ?? '';
    const state = textAt(line, 'state') ?? '';
    // A message that starts after a result starts a new turn.
    if (state === 'started') this.facts.isTurnOpen = true;
    return [{ kind: 'message_state', uuid, state }];
  }
}

function takeRequest(line: Json, plan: string | null): Notice[] {
  const requestId = textAt(line, 'request_id') ?? '';
  const request = objectAt(line, 'request');
  if (request['subtype'] !== 'can_use_tool') return [{ kind: 'unknown_request', requestId }];
  return [{ kind: 'permission', request: readPermissionRequest(requestId, request), plan }];
}

function retryNotices(line: Json): Notice[] {
  const status = numberAt(line, 'error_status');
  const delayMs = numberAt(line, 'retry_delay_ms') ?? 0;
  const error = textAt(line, 'error') ?? 'unknown';
  const attempt = numberAt(line, 'attempt') ?? 1;
  return [
    { kind: 'event', event: { type: 'retry', attempt, delayMs, status, error } },
    { kind: 'retry', status, delayMs, error },
  ];
}

function note(level: 'info' | 'warning', text: string): Notice {
  return { kind: 'event', event: { type: 'note', level, text } };
}

/** The documentation says seconds; milliseconds are recognized by their size. */
function unixMs(time: number): number {
  return time < 1e12 ? time * 1000 : time;
}

/** Claude Code wraps a tool's error in a tag that is only meant for the model. */
function withoutErrorTag(text: string): string {
  const inside = /^<tool_use_error>([\s\S]*)<\/tool_use_error>\s*$/u.exec(text);
  return inside?.[1] ?? text;
}
