// Text made to fit a number of columns: wide characters count two, combined ones count once.

import stringWidth from 'string-width';

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const printableAscii = /^[\x20-\x7e]*$/u;

export function widthOf(text: string): number {
  return printableAscii.test(text) ? text.length : stringWidth(text);
}

/** Cut to at most `width` columns, with `…` where something is missing. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 1) return width === 1 ? '…' : '';
  let cut = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    const wide = widthOf(segment);
    if (used + wide > width - 1) break;
    cut += segment;
    used += wide;
  }
  return `${cut.trimEnd()}…`;
}

/** Exactly `width` columns: cut or filled up with spaces. */
export function fill(text: string, width: number): string {
  const fitted = fit(text, width);
  return fitted + ' '.repeat(Math.max(0, width - widthOf(fitted)));
}

export function fillStart(text: string, width: number): string {
  const fitted = fit(text, width);
  return ' '.repeat(Math.max(0, width - widthOf(fitted))) + fitted;
}

/** Broken at spaces into lines of at most `width` columns; a longer word is cut, leading spaces stay. */
export function wrap(text: string, width: number, indent = ''): string {
  const lines: string[] = [];
  const start = /^ */u.exec(text)?.[0] ?? '';
  let line = start;
  let isEmpty = true;
  for (const word of text.slice(start.length).split(' ')) {
    const longer = isEmpty ? line + word : `${line} ${word}`;
    if (!isEmpty && widthOf(longer) > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line = longer;
    }
    isEmpty = false;
  }
  lines.push(line);
  return lines.map((each) => fit(each, width)).join('\n');
}
