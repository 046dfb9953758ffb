// An estimate of a row's height before it is measured, accurate enough that the scroll bar does not
// jump.

import type { Entry } from '../../shared/log/transcript.ts';

const linePx = 18;
const charPx = 7.5;
const linesMax = 40;

export function estimatedHeight(entry: Entry | undefined, widthPx: number): number {
  if (entry === undefined) return 24;
  const { body } = entry;
  switch (body.kind) {
    case 'output':
      return 4 + linePx * body.lines.length;
    case 'message':
      return 12 + linesOf(body.text, widthPx) * 20;
    case 'question':
      return 80 + linesOf(body.text, widthPx) * linePx;
    case 'hint':
      return 50 + linesOf(body.text, widthPx) * linePx;
    case 'prompt':
    case 'started':
    case 'thinking':
    case 'tool':
    case 'result':
    case 'retry':
    case 'note':
    case 'exit':
      return 24;
  }
}

function linesOf(text: string, widthPx: number): number {
  const perLine = Math.max(20, Math.floor(Math.max(widthPx, 300) / charPx));
  return Math.min(linesMax, 1 + Math.floor(text.length / perLine));
}
