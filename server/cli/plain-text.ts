// Text of agents, tasks and repositories on its way to a terminal: nothing in it may move the
// cursor, change colours, set the title or turn the reading direction, or it could forge the
// screen.

import { stripVTControlCharacters } from 'node:util';

// Every control character but tab and line feed, and the invisible characters that reorder text.
const controls = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Several lines: line feeds and tabs stay. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text.replaceAll('\r\n', '\n')).replaceAll(controls, '');
}

/** One line: every run of white space becomes one space. */
export function plainLine(text: string): string {
  return plainText(text).replaceAll(/\s+/gu, ' ').trim();
}

/**
 * JSON for a line of output. DEL and C1 are legal in JSON but act on a terminal, so they are
 * written as escapes.
 */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
