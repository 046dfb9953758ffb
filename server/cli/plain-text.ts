// Sanitizes text by agents, tasks and repositories for a terminal. Otherwise it could forge the
// screen by moving the cursor, changing colors, setting the title or reversing the text direction.

import { stripVTControlCharacters } from 'node:util';
import { invisible, withVisible } from '../core/visible-text.ts';

// All control characters except tab and line feed.
const controls = /[^\P{Cc}\t\n]/gu;
const hidden = new RegExp(`[\\u007f-\\u009f]|${invisible.source}`, 'gu');

/** Multiple lines: keeps line feeds and tabs, and shows invisible characters as `U+202E`. */
export function plainText(text: string): string {
  const printed = stripVTControlCharacters(text.replaceAll('\r\n', '\n'));
  return withVisible(printed.replaceAll(controls, ''));
}

/** Returns the text as one line, with every run of white space replaced by one space. */
export function plainLine(text: string): string {
  return plainText(text).replaceAll(/\s+/gu, ' ').trim();
}

/**
 * JSON for one line of output. DEL, C1 and direction characters are legal in JSON but affect a
 * terminal, so they are escaped.
 */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(hidden, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
