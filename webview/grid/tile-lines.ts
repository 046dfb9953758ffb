// The last lines of a log in a tile: each event is one or a few plain lines, and only the newest
// stay.

import { eventOfLine, type LogLineView } from '../../server/protocol/log-line.ts';
import { exitText, retryText, startedText } from '../shared/log/entry-text.ts';
import { visibleLine, withoutSequences } from '../shared/looks/visible-text.ts';

/** More than a tile as high as a screen shows. */
export const tileLinesMax = 120;
const lineCharsMax = 300;
const linesOfText = 6;

/** Lines of one event; none for an event without text. */
export function tileLines(line: LogLineView): string[] {
  const event = eventOfLine(line);
  switch (event.type) {
    case 'started':
      return [startedText({ ...event, kind: 'started' })];
    case 'text':
      return shortened(event.text);
    case 'thinking':
      return [`(thinks) ${short(event.text)}`];
    case 'tool_call':
      return [`→ ${short(event.title === '' ? event.name : event.title)}`];
    case 'tool_result':
      return event.isError ? [`✗ ${short(event.text)}`] : [];
    case 'output':
      return [short(event.text)];
    case 'retry':
      return [`↻ ${retryText({ ...event, kind: 'retry', count: 1 })}`];
    case 'question':
      return [`? ${short(event.text)}`];
    case 'answered':
      return [`? ${short(event.choice)}`];
    case 'hint':
      return event.state === 'delivered' ? [] : [`» ${short(event.text)}`];
    case 'note':
      return [`· ${short(event.text)}`];
    case 'exit':
      return [exitText({ ...event, kind: 'exit' })];
    case 'question_withdrawn':
    case 'usage':
      return [];
  }
}

function short(text: string): string {
  // Text that a program overwrote within its line is not shown here; the stream panel has it.
  const start = text.slice(0, lineCharsMax * 4);
  const last = start.includes('\r')
    ? (start.split('\r').findLast((part) => part !== '') ?? '')
    : start;
  return visibleLine(withoutSequences(last)).slice(0, lineCharsMax);
}

function shortened(text: string): string[] {
  const lines = text.split('\n', 200).filter((line) => line.trim() !== '');
  return lines.slice(-linesOfText).map(short);
}

export class TileLines {
  #lines: string[] = [];

  get lines(): readonly string[] {
    return this.#lines;
  }

  add(events: readonly LogLineView[]): void {
    for (const event of events) this.#lines.push(...tileLines(event));
    this.#lines = this.#lines.slice(-tileLinesMax);
  }

  clear(): void {
    this.#lines = [];
  }
}
