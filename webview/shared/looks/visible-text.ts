// Sanitizes agents' text for display: characters that are invisible, move the cursor or change the
// reading direction are removed (terminal sequences) or shown as a visible symbol (everything
// else). None of it is ever treated as HTML.

import { invisible, codePointText } from '../../../server/core/visible-text.ts';

/**
 * Longest operating-system command (window titles, links, clipboard) that is recognized and
 * removed.
 */
const stringSequenceMax = 4096;

/** One terminal sequence: CSI, a string sequence with its end (BEL or ST), or a short escape. */
const sequence = new RegExp(
  [
    '\\u001b\\[[0-?]*[ -/]*[@-~]',
    `\\u001b[\\]PX^_][^\\u0007\\u001b]{0,${stringSequenceMax}}(?:\\u0007|\\u001b\\\\)`,
    '\\u001b[ -/]+[0-~]',
    '\\u001b[0-9=><A-OQ-WYZ\\\\`-~]',
  ].join('|'),
  'gu',
);

/** A color sequence contains only numbers between its start and its `m`. */
function isColour(found: string): boolean {
  return found.endsWith('m') && /^\[[\d;:]*m$/u.test(found.slice(1));
}

/** Colors stay, and all other terminal sequences are removed. */
export function onlyColours(text: string): string {
  if (!text.includes('\u001b')) return text;
  return text.replace(sequence, (found) => (isColour(found) ? found.replaceAll(':', ';') : ''));
}

export function withoutSequences(text: string): string {
  return text.includes('\u001b') ? text.replace(sequence, '') : text;
}

// Also matches control characters other than tab and line feed.
const hidden = new RegExp(`[^\\P{Cc}\\t\\n]|${invisible.source}`, 'u');
const hiddenAll = new RegExp(hidden.source, 'gu');

export interface TextPiece {
  readonly text: string;
  /** The text is the symbol of an invisible character. */
  readonly isSign: boolean;
}

/** The symbol of an invisible character: a control picture, or its number. */
export function visibleSign(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return codePointText(character);
}

/** Text split at invisible characters, each replaced by its symbol. */
export function visiblePieces(text: string): TextPiece[] {
  if (!hidden.test(text)) return [{ text, isSign: false }];
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const found of text.matchAll(hiddenAll)) {
    if (found.index > from) pieces.push({ text: text.slice(from, found.index), isSign: false });
    pieces.push({ text: visibleSign(found[0]), isSign: true });
    from = found.index + found[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isSign: false });
  return pieces;
}

/** The same as one string: for titles, labels, copies and the search. */
export function visibleText(text: string): string {
  const plain = withoutSequences(text.replaceAll('\r\n', '\n'));
  return hidden.test(plain) ? plain.replaceAll(hiddenAll, visibleSign) : plain;
}

/** On one line. */
export function visibleLine(text: string): string {
  return visibleText(text.replaceAll(/\s+/gu, ' ')).trim();
}
