// Converts the output of `codex exec --json` to our events, and determines how a run ended.

import { failure, type Failure } from '../../core/failure.ts';
import {
  asObject,
  numberAt,
  objectAt,
  objectsAt,
  parseLine,
  textAt,
  type Json,
} from '../kit/wire/json-line.ts';
import {
  outcomeDetail,
  failed,
  overloaded,
  outcomeSummary,
  timedOut,
} from '../kit/run/outcomes.ts';
import { lastLine } from '../kit/wire/text-tail.ts';
import type { OneWayEnd, OneWayOwnEnd, OneWayReader } from '../kit/run/one-way-run.ts';
import type { AgentOutcome, AgentRequest } from '../port.ts';
import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';

const titleCharsMax = 200;
const openItemsMax = 1_000;

/** Item types that are tool calls, with their labels for people. */
const toolItems: Readonly<Record<string, (item: Json) => { name: string; what: string }>> = {
  command_execution: (item) => ({ name: 'shell', what: textAt(item, 'command') ?? '' }),
  file_change: (item) => ({ name: 'patch', what: changedPaths(item) }),
  mcp_tool_call: (item) => ({
    name: `${textAt(item, 'server') ?? 'mcp'}.${textAt(item, 'tool') ?? 'tool'}`,
    what: '',
  }),
  collab_tool_call: (item) => ({ name: textAt(item, 'tool') ?? 'collab', what: '' }),
  web_search: (item) => ({ name: 'web_search', what: textAt(item, 'query') ?? '' }),
};

export class CodexReader implements OneWayReader {
  readonly #request: AgentRequest;
  readonly #model: string | null;
  readonly #usageBefore: Usage;
  readonly #openItems = new Set<string>();
  readonly #denied = new Set<string>();
  #usage: Usage;
  #isTurnOpen = false;
  #isCompleted = false;
  #failure: string | null = null;
  #summary = '';

  constructor(request: AgentRequest, model: string | null, usageBefore: Usage) {
    this.#request = request;
    this.#model = model;
    this.#usageBefore = usageBefore;
    this.#usage = usageBefore;
  }

  get usage(): Usage {
    return this.#usage;
  }

  get isWaitingForModel(): boolean {
    return this.#isTurnOpen && this.#openItems.size === 0;
  }

  take(line: string): { readonly events: readonly AgentEvent[]; readonly end?: OneWayOwnEnd } {
    const event = parseLine(line);
    if (event === null) return { events: [{ type: 'output', stream: 'stdout', text: line }] };
    switch (event['type']) {
      case 'thread.started':
        return { events: [this.#started(event)] };
      case 'turn.started':
        this.#isTurnOpen = true;
        return { events: [] };
      case 'item.started':
        return { events: this.#begin(objectAt(event, 'item')) };
      case 'item.completed':
        return { events: this.#complete(objectAt(event, 'item')) };
      case 'turn.completed':
        this.#isTurnOpen = false;
        this.#isCompleted = true;
        this.#addUsage(objectAt(event, 'usage'));
        return { events: [{ type: 'usage', usage: this.#usage }] };
      case 'turn.failed':
        this.#isTurnOpen = false;
        this.#failure = textAt(objectAt(event, 'error'), 'message') ?? 'it gives no reason';
        return { events: [] };
      case 'error':
        return this.#takeError(textAt(event, 'message') ?? '');
      default:
        return { events: [] };
    }
  }

  outcome(end: OneWayEnd): AgentOutcome {
    switch (end.why) {
      case 'stopped':
        return { kind: 'stopped' };
      case 'timeout':
        return timedOut('Codex', this.#request.timeoutMs);
      case 'stalled': {
        const seconds = Math.round(end.silentMs / 1000);
        const message = `The model's provider sent no response for ${seconds} s, so Codex was stopped.`;
        return failed(failure('agent_stalled', message));
      }
      case 'auth':
        return failed(authFailure());
      case 'limited':
        return { kind: 'limited', untilMs: null, message: this.#failure ?? limitText };
      case 'exited':
        return this.#exited(end);
    }
  }

  #started(event: Json): AgentEvent {
    const sessionId = textAt(event, 'thread_id');
    const started = { type: 'started', agent: 'codex', sessionId, resumed: false } as const;
    return this.#model === null ? started : { ...started, model: this.#model };
  }

  #begin(item: Json): readonly AgentEvent[] {
    const tool = toolItems[textAt(item, 'type') ?? ''];
    if (tool === undefined || this.#openItems.size >= openItemsMax) return [];
    const id = textAt(item, 'id') ?? '';
    this.#openItems.add(id);
    const { name, what } = tool(item);
    const title = `${name} ${what.split('\n', 1)[0] ?? ''}`.trim().slice(0, titleCharsMax);
    return [{ type: 'tool_call', id, name, title, input: item['arguments'] ?? what }];
  }

  #complete(item: Json): readonly AgentEvent[] {
    const text = textAt(item, 'text') ?? '';
    const type = textAt(item, 'type') ?? '';
    switch (type) {
      case 'agent_message':
      case 'plan':
        this.#summary = text;
        return [{ type: 'text', text }];
      case 'reasoning':
        return text === '' ? [] : [{ type: 'thinking', text }];
      case 'error':
        return [{ type: 'note', level: 'warning', text: textAt(item, 'message') ?? '' }];
    }
    if (toolItems[type] === undefined) return [];
    const id = textAt(item, 'id') ?? '';
    // A file change is reported only when it is done.
    const begun = this.#openItems.delete(id) ? [] : this.#begin(item);
    this.#openItems.delete(id);
    const status = textAt(item, 'status');
    if (status === 'declined') this.#denied.add(toolItems[type](item).name);
    const isError = status === 'failed' || status === 'declined';
    return [...begun, { type: 'tool_result', id, isError, text: resultText(item) }];
  }

  #takeError(message: string): ReturnType<CodexReader['take']> {
    const again = /^Reconnecting\W*(\d+)\/\d+/.exec(message);
    const status = statusIn(message);
    if (again === null) return { events: [{ type: 'note', level: 'warning', text: message }] };
    const attempt = Number(again[1]);
    const retry: AgentEvent = { type: 'retry', attempt, delayMs: 0, status, error: message };
    // With an invalid key every retry fails too.
    return status === 401 ? { events: [retry], end: 'auth' } : { events: [retry] };
  }

  /** Excludes cached input tokens, as for other agents. */
  #addUsage(usage: Json): void {
    const cached = numberAt(usage, 'cached_input_tokens') ?? 0;
    const input = numberAt(usage, 'input_tokens') ?? 0;
    const before = this.#usageBefore;
    this.#usage = {
      inputTokens: before.inputTokens + Math.max(0, input - cached),
      outputTokens: before.outputTokens + (numberAt(usage, 'output_tokens') ?? 0),
      cacheReadTokens: before.cacheReadTokens + cached,
      costUsd: before.costUsd,
    };
  }

  #exited({ exit, stderrTail }: OneWayEnd): AgentOutcome {
    const detail = outcomeDetail(stderrTail);
    if (this.#failure !== null) return failedTurn(this.#failure, detail);
    if (exit.code === 0 && this.#isCompleted) {
      const summary = outcomeSummary(this.#summary.trim(), this.#request);
      return { kind: 'done', summary, deniedTools: [...this.#denied] };
    }
    const how = exit.code === null ? 'was killed' : `ended with exit code ${exit.code}`;
    const last = lastLine(stderrTail);
    const message = `Codex ${how} without a result${last === '' ? '' : `: ${last}`}`;
    return failed(failure('agent_failed', message, detail));
  }
}

const limitText = 'The account has reached its usage limit.';

function failedTurn(message: string, detail: string): AgentOutcome {
  const said = message.slice(0, 500);
  const status = statusIn(message);
  if (status === 401 || status === 403) return failed(authFailure(said));
  if (status === 429 || /\busage limit\b/i.test(message)) {
    return { kind: 'limited', untilMs: null, message: said };
  }
  const isOverload =
    (status !== null && status >= 500) || /\bstream disconnected\b|error sending/i.test(message);
  if (isOverload) return overloaded(said);
  return failed(failure('agent_failed', `Codex failed: ${said}`, detail));
}

/** The program reports its provider's status only as text. */
function statusIn(message: string): number | null {
  const status = /\bunexpected status (\d{3})\b/.exec(message)?.[1];
  return status === undefined ? null : Number(status);
}

function authFailure(said = ''): Failure {
  const why = said === '' ? '' : ` (${said})`;
  return failure(
    'agent_auth',
    `Codex is not signed in, or its key is refused${why}: set CODEX_API_KEY or OPENAI_API_KEY.`,
  );
}

function changedPaths(item: Json): string {
  return objectsAt(item, 'changes')
    .map((change) => `${textAt(change, 'kind') ?? 'change'} ${textAt(change, 'path') ?? ''}`)
    .join(', ');
}

function resultText(item: Json): string {
  const output = textAt(item, 'aggregated_output');
  if (output !== null) return output;
  const error = textAt(objectAt(item, 'error'), 'message');
  if (error !== null) return error;
  const blocks = objectsAt(asObject(item['result']) ?? {}, 'content');
  return blocks.flatMap((block) => textAt(block, 'text') ?? []).join('\n');
}
