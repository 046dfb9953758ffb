// Converts session updates of the Agent Client Protocol to our events. Some agents report a tool
// call only by an update, or by asking for permission first, so a call starts with the first
// message that contains its id.

import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk';
import { planCharactersMax } from '../../core/prompt/plan-prompt.ts';
import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';

const pieceCharsMax = 4_000;
const resultCharsMax = 20_000;
const summaryCharsMax = 2_000;
const endedStates: ReadonlySet<string> = new Set(['completed', 'failed']);

export class UpdateTranslator {
  /** Calls that have started but not ended. */
  readonly openTools = new Set<string>();
  readonly #known = new Set<string>();
  /** Calls that were announced but have not started. */
  readonly #announced = new Map<string, ToolCallUpdate>();
  #piece: { readonly type: 'text' | 'thinking'; text: string } | null = null;
  /** The agent's final message. */
  summary = '';
  /** All of its text since its last tool call. */
  message = '';

  take(update: SessionUpdate): AgentEvent[] {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return this.#add('text', textOf(update.content));
      case 'agent_thought_chunk':
        return this.#add('thinking', textOf(update.content));
      case 'tool_call':
      case 'tool_call_update':
        return [...this.flush(), ...this.takeTool(update)];
      case 'plan': {
        const steps = update.entries.map((entry) => `${mark(entry.status)} ${entry.content}`);
        return [
          ...this.flush(),
          { type: 'note', level: 'info', text: `Plan:\n${steps.join('\n')}` },
        ];
      }
      default:
        // Commands, modes and user messages, which do not affect the work, and newer kinds of
        // updates.
        return [];
    }
  }

  /** Starts the call if it is new, and ends it if the update says so. */
  takeTool(call: ToolCallUpdate): AgentEvent[] {
    const events: AgentEvent[] = [];
    const id = call.toolCallId;
    const told = { ...this.#announced.get(id), ...withoutNulls(call) };
    // Some agents announce a call before they know its details.
    if (call.status === 'pending' && told.rawInput === undefined) {
      this.#announced.set(id, told);
      return events;
    }
    if (!this.#known.has(id)) {
      this.#announced.delete(id);
      this.#known.add(id);
      this.message = '';
      this.openTools.add(id);
      events.push({
        type: 'tool_call',
        id,
        name: told.name ?? told.kind ?? 'tool',
        title: told.title ?? told.kind ?? 'tool',
        input: told.rawInput ?? { locations: told.locations?.map(({ path }) => path) ?? [] },
      });
    }
    if (call.status === undefined || call.status === null || !endedStates.has(call.status)) {
      return events;
    }
    if (!this.openTools.delete(id)) return events;
    const text = (call.content ?? []).map(contentText).join('\n').slice(0, resultCharsMax);
    events.push({ type: 'tool_result', id, isError: call.status === 'failed', text });
    return events;
  }

  /** Emits text that was received but not emitted yet. */
  flush(): AgentEvent[] {
    const piece = this.#piece;
    this.#piece = null;
    if (piece === null || piece.text === '') return [];
    if (piece.type === 'text') {
      this.summary = piece.text.trim().slice(-summaryCharsMax);
      this.message = `${this.message}${piece.text}`.slice(-planCharactersMax);
    }
    return [{ type: piece.type, text: piece.text }];
  }

  /** Chunks are parts of words, so text is emitted when a line or enough text is complete. */
  #add(type: 'text' | 'thinking', text: string): AgentEvent[] {
    const before = this.#piece !== null && this.#piece.type !== type ? this.flush() : [];
    this.#piece ??= { type, text: '' };
    this.#piece.text += text;
    const isEnough = this.#piece.text.length > pieceCharsMax || this.#piece.text.endsWith('\n\n');
    return isEnough ? [...before, ...this.flush()] : before;
  }
}

function textOf(content: { readonly type: string; readonly text?: unknown }): string {
  return typeof content.text === 'string' ? content.text : `[${content.type}]`;
}

function contentText(content: ToolCallContent): string {
  switch (content.type) {
    case 'content':
      return textOf(content.content);
    case 'diff':
      return `${content.oldText === null || content.oldText === undefined ? 'Wrote' : 'Changed'} ${content.path}`;
    case 'terminal':
      return '';
  }
}

/** An update contains only changes; null means no change. */
function withoutNulls(call: ToolCallUpdate): ToolCallUpdate {
  const entries = Object.entries(call).filter(([, value]) => value !== null && !isEmpty(value));
  return { ...Object.fromEntries(entries), toolCallId: call.toolCallId };
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function mark(status: string): string {
  return status === 'completed' ? '[x]' : status === 'in_progress' ? '[>]' : '[ ]';
}

/**
 * Tokens and cost, which agents report in the response to the prompt, beside it, or in updates.
 * Returns null if not reported.
 */
export function parseUsage(told: unknown, costUsd: number | null): Usage | null {
  const input = numberIn(told, ['inputTokens', 'input_tokens']);
  const output = numberIn(told, ['outputTokens', 'output_tokens']);
  if (input === null && output === null && costUsd === null) return null;
  return {
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    cacheReadTokens: numberIn(told, ['cachedReadTokens', 'cached_input_tokens']) ?? 0,
    costUsd,
  };
}

function numberIn(told: unknown, names: readonly string[]): number | null {
  if (typeof told !== 'object' || told === null) return null;
  const record = told as Readonly<Record<string, unknown>>;
  const value = names.map((name) => record[name]).find((one) => typeof one === 'number');
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
