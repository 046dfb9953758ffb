// Templates for agents' text: colored pieces, cut at a limit with a button that shows everything.
// Text reaches the page only as text nodes.

import { html, nothing, type TemplateResult } from 'lit';
import { styledLines, type StyledLine } from './ansi.ts';
import { visiblePieces } from '../looks/visible-text.ts';

export interface TextLimits {
  readonly lines: number;
  readonly lineChars: number;
}

export const foldedLimits: TextLimits = { lines: 30, lineChars: 2_000 };
/** Even "all" has a limit: laying out a page of a million characters takes seconds. */
export const allLimits: TextLimits = { lines: 20_000, lineChars: 200_000 };
const allCharsMax = 500_000;

export interface CutText {
  readonly text: string;
  readonly isCut: boolean;
  /** `12 more lines`, `3,400 more characters`. */
  readonly rest: string;
}

export function cutText(text: string, limits: TextLimits): CutText {
  const lines = text.split('\n');
  let hiddenLines = Math.max(0, lines.length - limits.lines);
  let hiddenChars = 0;
  let charsLeft = allCharsMax;
  const kept: string[] = [];
  for (const line of lines.slice(0, limits.lines)) {
    if (charsLeft <= 0) {
      hiddenLines += 1;
      continue;
    }
    const max = Math.min(limits.lineChars, charsLeft);
    hiddenChars += Math.max(0, line.length - max);
    const shown = line.length <= max ? line : `${wellFormed(line.slice(0, max))}…`;
    charsLeft -= shown.length + 1;
    kept.push(shown);
  }
  const parts = [
    hiddenLines > 0 ? `${hiddenLines.toLocaleString('en')} more lines` : '',
    hiddenChars > 0 ? `${hiddenChars.toLocaleString('en')} more characters` : '',
  ].filter((part) => part !== '');
  return { text: kept.join('\n'), isCut: parts.length > 0, rest: parts.join(', ') };
}

/** A cut must not split a character. */
function wellFormed(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00 ? text.slice(0, -1) : text;
}

/** Terminal output: colors, and a marker if a program has overwritten a line. */
export function ansiTemplate(text: string, showOverwritten: boolean): unknown {
  if (!text.includes('\u001b') && !text.includes('\r')) return plainTemplate(text);
  return styledLines(text, { showOverwritten }).map((line, index) => lineTemplate(line, index));
}

function lineTemplate(line: StyledLine, index: number): TemplateResult {
  const versions =
    line.overwritten === 0
      ? nothing
      : html`<span
          class="sign"
          title="${line.overwritten} earlier versions of this line were overwritten"
          >␍${line.overwritten}</span
        >`;
  const pieces = line.pieces.map((piece) =>
    piece.classes === '' ? piece.text : html`<span class=${piece.classes}>${piece.text}</span>`,
  );
  return html`${index === 0 ? '' : '\n'}${versions}${pieces}`;
}

/** Prose and code without colors; invisible characters are replaced by a symbol. */
export function plainTemplate(text: string): unknown {
  const pieces = visiblePieces(text);
  if (pieces.length === 1 && pieces[0]?.isSign === false) return pieces[0].text;
  return pieces.map((piece) =>
    piece.isSign ? html`<span class="sign">${piece.text}</span>` : piece.text,
  );
}
