// The agent's own to-do list, from the newest event in its log that has one. Claude Code writes it
// with a tool; ACP agents send it as a plan.

import { eventOfLine, type LogLineView } from '../../../server/protocol/log-line.ts';

export type TodoState = 'open' | 'active' | 'done';

export interface TodoItem {
  readonly text: string;
  readonly state: TodoState;
}

const itemsMax = 100;

/** The list of the last line that has one, or null. */
export function lastTodos(lines: readonly LogLineView[]): readonly TodoItem[] | null {
  for (const line of lines.toReversed()) {
    const items = todosOf(line);
    if (items !== null) return items;
  }
  return null;
}

/** `2 of 5: the current item`, or `all 5 done`. */
export function todoSummary(items: readonly TodoItem[]): string {
  const done = items.filter(({ state }) => state === 'done').length;
  const active = items.find(({ state }) => state === 'active');
  if (done === items.length) return `all ${items.length} done`;
  const count = `${done} of ${items.length} done`;
  return active === undefined ? count : `${count} · ${active.text}`;
}

function todosOf(line: LogLineView): readonly TodoItem[] | null {
  if (line.type !== 'tool_call' && line.type !== 'note') return null;
  const event = eventOfLine(line);
  if (event.type === 'note') return planOf(event.text);
  if (event.type !== 'tool_call' || event.name !== 'TodoWrite') return null;
  const list = (event.input as { readonly todos?: unknown } | null)?.todos;
  if (!Array.isArray(list)) return null;
  return list.slice(0, itemsMax).flatMap((item: unknown) => {
    const { content, status } = (item ?? {}) as { readonly [key: string]: unknown };
    return typeof content === 'string' ? [{ text: content, state: stateOf(status) }] : [];
  });
}

function stateOf(status: unknown): TodoState {
  return status === 'completed' ? 'done' : status === 'in_progress' ? 'active' : 'open';
}

const planLine = /^\[([ x>~])\] (.+)$/u;

function planOf(note: string): readonly TodoItem[] | null {
  const [head, ...lines] = note.split('\n');
  if (head !== 'Plan:') return null;
  return lines.slice(0, itemsMax).flatMap((line): TodoItem[] => {
    const [, sign, text] = planLine.exec(line) ?? [];
    if (text === undefined) return [];
    return [{ text, state: sign === 'x' ? 'done' : sign === ' ' ? 'open' : 'active' }];
  });
}
