// Fits text into a number of columns. Wide characters count as two columns, combined ones as one.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

let segmenter: Intl.Segmenter | null = null;

/** Created on demand, because creation is slow. */
function graphemesOf(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/**
 * Western letters, punctuation, arrows, lines, blocks and shapes, which take one column each and
 * never combine.
 */
const narrow =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u25fc\u2713-\u2718]*$/u;

export function displayWidth(text: string): number {
  return narrow.test(text) ? text.length : wideWidthOf(text);
}

let wideWidth: ((text: string) => number) | null = null;

function wideWidthOf(text: string): number {
  wideWidth ??= loadWideWidth();
  return wideWidth(text);
}

/**
 * In the bundle, a file beside this one; from the sources, the module itself, which Node runs
 * without a build.
 */
function loadWideWidth(): (text: string) => number {
  const bundled = fileURLToPath(new URL('./wide-text.cjs', import.meta.url));
  const load = createRequire(import.meta.url);
  const loaded = load(existsSync(bundled) ? bundled : './wide-text.ts') as {
    readonly stringWidth: (text: string) => number;
  };
  return loaded.stringWidth;
}

/** Cuts to at most `width` columns, and marks the cut with `…`. */
export function fit(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width <= 1) return width === 1 ? '…' : '';
  let cut = '';
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    const wide = displayWidth(segment);
    if (used + wide > width - 1) break;
    cut += segment;
    used += wide;
  }
  return `${cut.trimEnd()}…`;
}

/** Exactly `width` columns, cut or padded with spaces. */
export function fill(text: string, width: number): string {
  const fitted = fit(text, width);
  return fitted + ' '.repeat(Math.max(0, width - displayWidth(fitted)));
}

export function fillStart(text: string, width: number): string {
  const fitted = fit(text, width);
  return ' '.repeat(Math.max(0, width - displayWidth(fitted))) + fitted;
}

/**
 * Breaks at spaces into lines of at most `width` columns. Cuts longer words and keeps leading
 * spaces.
 */
export function wrap(text: string, width: number, indent = ''): string {
  const lines: string[] = [];
  const start = /^ */u.exec(text)?.[0] ?? '';
  let line = start;
  let isEmpty = true;
  for (const word of text.slice(start.length).split(' ')) {
    const longer = isEmpty ? line + word : `${line} ${word}`;
    if (!isEmpty && displayWidth(longer) > width) {
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
