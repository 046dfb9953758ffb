// Parses a stream of server-sent events: CRLF, comments, `retry:`, multi-line data, and lines of
// any length up to a limit.

import { StringDecoder } from 'node:string_decoder';

export interface StreamEvent {
  /** The id sent with this event; null if it had none. */
  readonly id: string | null;
  readonly data: string;
}

/** Far above any line that a runtime sends, and far below a harmful size. */
const eventCharsMax = 64 * 1024 * 1024;

/**
 * Takes chunks and returns the complete events. An event that is cut off at the end of a stream is
 * dropped.
 */
export class EventParser {
  readonly #decoder = new StringDecoder('utf8');
  #line: string[] = [];
  #chars = 0;
  #id: string | null = null;
  #data: string[] = [];
  #endedWithReturn = false;
  readonly #charsMax: number;

  constructor(charsMax = eventCharsMax) {
    this.#charsMax = charsMax;
  }

  /** Throws if one event is larger than the limit. */
  push(chunk: Buffer): StreamEvent[] {
    const events: StreamEvent[] = [];
    let text = this.#decoder.write(chunk);
    if (this.#endedWithReturn && text.startsWith('\n')) text = text.slice(1);
    if (text !== '') this.#endedWithReturn = text.endsWith('\r');
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      this.#line.push(line);
      const event = this.#takeLine(this.#line.join(''));
      this.#line = [];
      if (event !== null) events.push(event);
    }
    if (rest !== '') this.#line.push(rest);
    this.#chars += text.length;
    if (events.length > 0) this.#chars = rest.length;
    if (this.#chars > this.#charsMax) throw new Error('An event of the worker is too large.');
    return events;
  }

  #takeLine(line: string): StreamEvent | null {
    if (line === '') return this.#takeEvent();
    if (line.startsWith(':')) {
      // Comments alone never count towards the limit.
      if (this.#data.length === 0) this.#chars = 0;
      return null;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    return null;
  }

  #takeEvent(): StreamEvent | null {
    const event = { id: this.#id, data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#id = null;
    this.#data = [];
    return isEmpty ? null : event;
  }
}
