// Converts an agent's log for display: events become entries, results join their calls, answers
// join their questions, and lines of output join their block. Entries grow in place; `revision`
// shows that one has changed.

import type { LoggedEvent, Usage } from '../../../server/protocol/agent-events.ts';
import { logLineTimeMs, eventOfLine, type LogLineView } from '../../../server/protocol/log-line.ts';

/** Maximum number of output lines in one block, so that rows of a virtual list stay small. */
export const outputLinesMax = 40;

export interface ToolResult {
  readonly isError: boolean;
  readonly text: string;
  readonly atMs: number;
  /** How long the call waited for a person's permission. */
  readonly waitedMs: number;
}

export type EntryBody =
  /**
   * The agent's first prompt; null until it is read. It precedes the first event and is not a line
   * of the log.
   */
  | { readonly kind: 'prompt'; readonly text: string | null }
  | {
      readonly kind: 'started';
      readonly agent: string;
      readonly model?: string | undefined;
      readonly resumed: boolean;
    }
  | { readonly kind: 'message' | 'thinking'; readonly text: string }
  | {
      readonly kind: 'tool';
      readonly id: string;
      readonly name: string;
      readonly title: string;
      readonly input: unknown;
      readonly result: ToolResult | null;
    }
  /** A result whose call is not loaded. */
  | { readonly kind: 'result'; readonly id: string; readonly result: ToolResult }
  | {
      readonly kind: 'output';
      readonly stream: 'stdout' | 'stderr';
      readonly lines: readonly string[];
    }
  | {
      readonly kind: 'retry';
      readonly count: number;
      readonly delayMs: number;
      readonly status: number | null;
      readonly error: string;
    }
  | {
      readonly kind: 'question';
      readonly requestId: string;
      readonly asks: 'permission' | 'question';
      readonly text: string;
      readonly choices: readonly string[];
      readonly state: 'open' | 'answered' | 'withdrawn';
      readonly answer: string | null;
    }
  | {
      readonly kind: 'hint';
      readonly id: string;
      readonly text: string;
      readonly state: 'sent' | 'delivered' | 'dropped';
    }
  | { readonly kind: 'note'; readonly level: 'info' | 'warning'; readonly text: string }
  | {
      readonly kind: 'exit';
      readonly code: number | null;
      readonly signal: string | null;
      /** Drover stopped it. */
      readonly stopped?: true | undefined;
      /** Processes that it left running, which were then killed. */
      readonly ended?: number | undefined;
    };

export interface Entry {
  /**
   * Number of its first event. Older pages have smaller numbers, possibly negative ones; an entry
   * keeps its number.
   */
  readonly key: number;
  readonly atMs: number;
  /** Increases with every change. */
  revision: number;
  body: EntryBody;
}

interface Wait {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The window is short compared with the log, because older waits belong to calls that have ended.
 */
const waitsMax = 50;
/** More answers than this are not offered, because a person would not read them. */
const choicesMax = 20;

export class Transcript {
  readonly entries: Entry[] = [];
  /** The agent's last usage report. */
  usage: Usage | null = null;
  readonly #calls = new Map<string, Entry>();
  readonly #questions = new Map<string, Entry>();
  /** Permissions that a person has granted or refused, from the question to its end. */
  #waits: readonly Wait[] = [];
  readonly #hints = new Map<string, Entry>();
  #next: number;

  constructor(firstKey: number) {
    this.#next = firstKey;
  }

  /**
   * Adds lines at the end. `startsPage`: an output block does not extend over the start of a page.
   */
  append(lines: readonly LogLineView[], startsPage: boolean): void {
    let mayJoin = !startsPage;
    for (const line of lines) {
      const event = eventOfLine(line);
      const entry = this.#take(event, this.#next, logLineTimeMs(line), mayJoin);
      if (entry !== null) this.entries.push(entry);
      this.#next += 1;
      mayJoin = true;
    }
  }

  /**
   * Discards the entries before a key. A result that remains without its call is shown again once
   * its page is read again.
   */
  dropBefore(key: number): void {
    const first = this.entries.findIndex((entry) => entry.key >= key);
    this.entries.splice(0, first === -1 ? this.entries.length : first);
    for (const known of [this.#calls, this.#questions, this.#hints]) {
      for (const [id, entry] of known) if (entry.key < key) known.delete(id);
    }
  }

  get nextKey(): number {
    return this.#next;
  }

  /** A new entry, or null if the event joined an existing one. */
  #take(event: LoggedEvent, key: number, atMs: number, mayJoin: boolean): Entry | null {
    const last = mayJoin ? this.entries.at(-1) : undefined;
    const add = (body: EntryBody): Entry => ({ key, atMs, revision: 0, body });
    switch (event.type) {
      case 'started':
        return add({ ...without(event), kind: 'started' });
      case 'text':
      case 'thinking':
        if (event.text === '') return null;
        return add({ kind: event.type === 'text' ? 'message' : 'thinking', text: event.text });
      case 'tool_call': {
        const entry = add({ ...without(event), kind: 'tool', result: null });
        if (event.id !== '') this.#calls.set(event.id, entry);
        return entry;
      }
      case 'tool_result':
        return this.#takeResult(event, atMs, add);
      case 'output':
        return takeOutput(event, last, add);
      case 'retry':
        return takeRetry(event, last, add);
      case 'question': {
        const { requestId, text } = event;
        const choices = event.choices.slice(0, choicesMax);
        const asked = { requestId, text, choices, state: 'open', answer: null } as const;
        const entry = add({ kind: 'question', asks: event.kind, ...asked });
        this.#questions.set(requestId, entry);
        return entry;
      }
      case 'question_withdrawn':
        return this.#endQuestion(event.requestId, { state: 'withdrawn', answer: null, atMs }, add);
      case 'answered':
        return this.#endQuestion(
          event.requestId,
          { state: 'answered', answer: event.choice, atMs },
          add,
        );
      case 'hint':
        return this.#takeHint(event, add);
      case 'usage':
        this.usage = event.usage;
        return null;
      case 'note':
        return event.text === '' ? null : add({ ...without(event), kind: 'note' });
      case 'exit':
        return add({ ...without(event), kind: 'exit' });
    }
  }

  #takeResult(
    event: Extract<LoggedEvent, { type: 'tool_result' }>,
    atMs: number,
    add: (body: EntryBody) => Entry,
  ): Entry | null {
    const call = this.#calls.get(event.id);
    const waitedMs = this.#waits.reduce((sum, { fromMs, toMs }) => {
      return sum + Math.max(0, Math.min(toMs, atMs) - Math.max(fromMs, call?.atMs ?? atMs));
    }, 0);
    const result = { isError: event.isError, text: event.text, atMs, waitedMs };
    if (call?.body.kind !== 'tool') return add({ kind: 'result', id: event.id, result });
    this.#calls.delete(event.id);
    change(call, { ...call.body, result });
    return null;
  }

  #endQuestion(
    requestId: string,
    {
      state,
      answer,
      atMs,
    }: { state: 'answered' | 'withdrawn'; answer: string | null; atMs: number },
    add: (body: EntryBody) => Entry,
  ): Entry | null {
    const entry = this.#questions.get(requestId);
    if (entry?.body.kind === 'question') {
      this.#questions.delete(requestId);
      this.#waits = [...this.#waits, { fromMs: entry.atMs, toMs: atMs }].slice(-waitsMax);
      change(entry, { ...entry.body, state, answer });
      return null;
    }
    const text = state === 'withdrawn' ? 'A question was withdrawn.' : `Answered: ${answer ?? ''}`;
    return add({ kind: 'note', level: 'info', text });
  }

  #takeHint(
    event: Extract<LoggedEvent, { type: 'hint' }>,
    add: (body: EntryBody) => Entry,
  ): Entry | null {
    const entry = this.#hints.get(event.id);
    if (entry?.body.kind === 'hint') {
      change(entry, { ...entry.body, state: event.state });
      return null;
    }
    const hint = add({ ...without(event), kind: 'hint' });
    this.#hints.set(event.id, hint);
    return hint;
  }
}

function takeOutput(
  event: Extract<LoggedEvent, { type: 'output' }>,
  last: Entry | undefined,
  add: (body: EntryBody) => Entry,
): Entry | null {
  const body = last?.body;
  if (
    last === undefined ||
    body?.kind !== 'output' ||
    body.stream !== event.stream ||
    body.lines.length >= outputLinesMax
  ) {
    return add({ kind: 'output', stream: event.stream, lines: [event.text] });
  }
  // The list belongs only to this entry, because copying it for every line would be quadratic.
  (body.lines as string[]).push(event.text);
  last.revision += 1;
  return null;
}

function takeRetry(
  event: Extract<LoggedEvent, { type: 'retry' }>,
  last: Entry | undefined,
  add: (body: EntryBody) => Entry,
): Entry | null {
  const { delayMs, status, error } = event;
  if (last?.body.kind !== 'retry') return add({ kind: 'retry', count: 1, delayMs, status, error });
  change(last, { kind: 'retry', count: last.body.count + 1, delayMs, status, error });
  return null;
}

function change(entry: Entry, body: EntryBody): void {
  entry.body = body;
  entry.revision += 1;
}

function without<E extends LoggedEvent>(event: E): Omit<E, 'type' | 'at'> {
  const { type: _type, at: _at, ...rest } = event;
  return rest;
}
