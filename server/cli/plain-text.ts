// Text of agents, tasks and repositories on its way to a terminal: nothing in it may move the
// cursor, change colours, set the title or turn the reading direction, or it could forge the
// screen.

import { stripVTControlCharacters } from 'node:util';
import { invisible, withVisible } from '../core/visible-text.ts';

// Every control character but tab and line feed.
const controls = /[^\P{Cc}\t\n]/gu;
const hidden = new RegExp(`[\\u007f-\\u009f]|${invisible.source}`, 'gu');

/** Several lines: line feeds and tabs stay; an invisible character is shown as `U+202E`. */
export function plainText(text: string): string {
  const printed = stripVTControlCharacters(text.replaceAll('\r\n', '\n'));
  return withVisible(printed.replaceAll(controls, ''));
}

/** One line: every run of white space becomes one space. */
export function plainLine(text: string): string {
  return plainText(text).replaceAll(/\s+/gu, ' ').trim();
}

/**
 * JSON for a line of output. DEL, C1 and characters that turn the direction are legal in JSON but
 * act on a terminal, so they are written as escapes.
 */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(hidden, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
