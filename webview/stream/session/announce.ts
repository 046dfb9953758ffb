// Screen reader announcements about a stream: short, and only for events that a person waits for or
// may have to act on.

import { entryKind, exitText, startedText } from '../../shared/log/entry-text.ts';
import type { Entry } from '../../shared/log/transcript.ts';
import { visibleLine } from '../../shared/looks/visible-text.ts';

const charsMax = 140;

export function describeForScreenReader(entry: Entry): string | null {
  const { body } = entry;
  switch (body.kind) {
    case 'message':
    case 'question':
      return said(entryKind(body), body.text);
    case 'note':
      return body.level === 'warning' ? said('Warning', body.text) : null;
    case 'started':
      return startedText(body);
    case 'exit':
      return exitText(body);
    case 'prompt':
    case 'thinking':
    case 'tool':
    case 'result':
    case 'output':
    case 'retry':
    case 'hint':
      return null;
  }
}

/** The last announcement for the new events. */
export function announcement(entries: readonly Entry[], afterKey: number): string | null {
  for (const entry of entries.slice(-200).reverse()) {
    if (entry.key <= afterKey) return null;
    const text = describeForScreenReader(entry);
    if (text !== null) return text;
  }
  return null;
}

function said(kind: string, text: string): string {
  const line = visibleLine(text.slice(0, charsMax * 2));
  return `${kind}: ${line.length > charsMax ? `${line.slice(0, charsMax)}…` : line}`;
}

const announceMs = 2_000;

/** The text of the live region: the newest announcement, no more often than a person can listen. */
export class Announcer {
  #key = Number.NEGATIVE_INFINITY;
  #atMs = 0;
  text = '';

  /** Another log: its existing content is not announced. */
  reset(): void {
    this.#key = Number.NEGATIVE_INFINITY;
    this.#atMs = 0;
    this.text = '';
  }

  take(entries: readonly Entry[], nowMs: number): void {
    if (nowMs - this.#atMs < announceMs) return;
    const key = entries.at(-1)?.key;
    if (key === undefined) return;
    const text = announcement(entries, this.#key);
    const isFirst = this.#key === Number.NEGATIVE_INFINITY;
    this.#key = key;
    if (text === null || isFirst) return;
    this.#atMs = nowMs;
    this.text = text;
  }
}
