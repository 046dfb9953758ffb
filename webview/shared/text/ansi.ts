// Text with terminal colors as lines of pieces with class names from the theme. Other colors are
// mapped to the nearest of the theme's sixteen; nothing can hide text, move it or link it.

import Anser from 'anser';
import { onlyColours, visiblePieces } from '../looks/visible-text.ts';

export interface StyledPiece {
  readonly text: string;
  /** Space-separated class names; empty for plain text. */
  readonly classes: string;
}

export interface StyledLine {
  readonly pieces: readonly StyledPiece[];
  /**
   * Earlier versions of this line that the program overwrote (a progress bar), which are not in
   * `pieces`.
   */
  readonly overwritten: number;
}

const colourNames = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white',
] as const;

/** All class names that `styledLines` uses for colors: `fg-red`, `bg-bright-blue` … */
export const colourClasses: readonly string[] = ['fg', 'bg'].flatMap((ground) =>
  ['', 'bright-'].flatMap((light) => colourNames.map((name) => `${ground}-${light}${name}`)),
);

const shownDecorations = new Map<string, string>([
  ['bold', 'bold'],
  ['dim', 'dim'],
  ['italic', 'italic'],
  ['underline', 'underline'],
  ['strikethrough', 'strikethrough'],
]);

export interface StyleOptions {
  /** Also shows text that the program has overwritten. */
  readonly showOverwritten?: boolean;
}

export function styledLines(text: string, options: StyleOptions = {}): StyledLine[] {
  const lines = new LineBuilder(options.showOverwritten === true);
  const anser = new Anser();
  const [first, ...coloured] = onlyColours(text.replaceAll('\r\n', '\n')).split('\u001b[');
  lines.add(first ?? '', '');
  for (const chunk of coloured) {
    const token = anser.processChunk(chunk, { json: true, use_classes: true }, true);
    lines.add(token.content, classesOf(token));
  }
  return lines.end();
}

/** Joins pieces to lines; a carriage return starts a new version of the line. */
class LineBuilder {
  readonly #showOverwritten: boolean;
  readonly #lines: StyledLine[] = [];
  #pieces: StyledPiece[] = [];
  #overwritten = 0;
  #isReturned = false;

  constructor(showOverwritten: boolean) {
    this.#showOverwritten = showOverwritten;
  }

  add(text: string, classes: string): void {
    for (const part of text.split(this.#showOverwritten ? /(\n)/u : /([\n\r])/u)) {
      if (part === '\n') this.#endLine();
      else if (part === '\r' && !this.#showOverwritten) this.#isReturned = true;
      else if (part !== '') this.#push(part, classes);
    }
  }

  end(): StyledLine[] {
    this.#endLine();
    return this.#lines;
  }

  #push(text: string, classes: string): void {
    if (this.#isReturned && this.#pieces.length > 0) {
      this.#pieces = [];
      this.#overwritten += 1;
    }
    this.#isReturned = false;
    for (const piece of visiblePieces(text)) {
      this.#pieces.push({ text: piece.text, classes: piece.isSign ? 'sign' : classes });
    }
  }

  #endLine(): void {
    this.#lines.push({ pieces: this.#pieces, overwritten: this.#overwritten });
    this.#pieces = [];
    this.#overwritten = 0;
    this.#isReturned = false;
  }
}

function classesOf(token: Anser.AnserJsonEntry): string {
  const names = [
    colourClass('fg', token.fg, token.fg_truecolor),
    colourClass('bg', token.bg, token.bg_truecolor),
    ...token.decorations.map((decoration) => shownDecorations.get(decoration) ?? ''),
  ];
  return [...new Set(names)].filter((name) => name !== '').join(' ');
}

function colourClass(ground: 'fg' | 'bg', name: string | null, trueColour: string | null): string {
  if (name === null || name === undefined) return '';
  if (name === 'ansi-truecolor') {
    const [red, green, blue] = (trueColour ?? '').split(',').map(Number);
    return `${ground}-${nearest(red ?? 0, green ?? 0, blue ?? 0)}`;
  }
  const palette = /^ansi-palette-(\d+)$/u.exec(name)?.[1];
  if (palette !== undefined) return `${ground}-${nearest(...paletteColour(Number(palette)))}`;
  const known = `${ground}-${name.replace(/^ansi-/u, '')}`;
  return colourClasses.includes(known) ? known : '';
}

/** The 6×6×6 cube (16–231) and the grays (232–255) of the xterm palette. */
function paletteColour(index: number): [number, number, number] {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return [grey, grey, grey];
  }
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  const cube = index - 16;
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
}

/**
 * The nearest of the sixteen colors: which of red, green and blue are on, and whether it is bright.
 */
function nearest(red: number, green: number, blue: number): string {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 32) {
    if (most < 64) return 'black';
    if (most < 140) return 'bright-black';
    return most < 220 ? 'white' : 'bright-white';
  }
  const middle = (most + least) / 2;
  const index = (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
  return `${most > 215 ? 'bright-' : ''}${colourNames[index] ?? 'white'}`;
}
