// Encodes one event as one line of the log, truncated if it alone would exceed the log's limit.

import type { AgentEvent, LoggedEvent } from '../../../protocol/agent-events.ts';

/**
 * Encodes an event. A long one keeps the start and the end of its text and says how much is
 * missing.
 */
export function eventLine(event: LoggedEvent, bytesMax: number): Buffer {
  let line = Buffer.from(`${JSON.stringify(event)}\n`);
  // Escapes lengthen the text by an unknown factor, so it is halved until it fits.
  for (let keep = bytesMax; line.length > bytesMax && keep >= 16; keep = Math.floor(keep / 2)) {
    line = Buffer.from(`${JSON.stringify(shorten(event, keep))}\n`);
  }
  return line;
}

function shorten(event: LoggedEvent, keepChars: number): LoggedEvent {
  switch (event.type) {
    case 'text':
    case 'thinking':
    case 'tool_result':
    case 'output':
    case 'note':
    case 'hint':
    case 'question':
      return { ...event, text: cutMiddle(event.text, keepChars) };
    case 'tool_call':
      return {
        ...event,
        title: cutMiddle(event.title, 200),
        input: cutMiddle(JSON.stringify(event.input) ?? '', keepChars),
      };
    case 'retry':
      return { ...event, error: cutMiddle(event.error, keepChars) };
    case 'answered':
      return { ...event, choice: cutMiddle(event.choice, keepChars) };
    case 'started':
    case 'question_withdrawn':
    case 'usage':
    case 'exit':
      return event;
  }
}

/** Keeps the start and the end of a text and says how many bytes are missing in between. */
export function cutMiddle(text: string, keepChars: number): string {
  if (text.length <= keepChars) return text;
  const half = Math.floor(keepChars / 2);
  const gone = text.slice(half, text.length - half);
  return `${text.slice(0, half)} …[${Buffer.byteLength(gone)} bytes omitted]… ${text.slice(text.length - half)}`;
}

/** The size of an event, for the note about dropped bytes. */
export function countOutputBytes(event: AgentEvent): number {
  switch (event.type) {
    case 'output':
      return Buffer.byteLength(event.text) + 1; // its newline
    case 'text':
    case 'thinking':
    case 'tool_result':
    case 'note':
    case 'hint':
    case 'question':
      return Buffer.byteLength(event.text);
    case 'tool_call':
      return Buffer.byteLength(JSON.stringify(event.input) ?? '');
    case 'started':
    case 'retry':
    case 'question_withdrawn':
    case 'answered':
    case 'usage':
    case 'exit':
      return 0;
  }
}
