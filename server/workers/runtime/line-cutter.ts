// Splits the bytes of one output into lines (worker contract §4), and lines that are too long into
// chunks (§9).

import { partialBytes } from '../wire.ts';

export interface CutLine {
  readonly line: string;
  /** More of the same line follows. */
  readonly isPartial: boolean;
}

const lineFeed = 10;
const carriageReturn = 13;

export class LineCutter {
  /** The start of an incomplete line. */
  #rest: Buffer = Buffer.alloc(0);

  *cut(chunk: Buffer): Generator<CutLine> {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (;;) {
      const end = data.indexOf(lineFeed, start);
      if (end === -1) break;
      yield* wholeLine(data, start, end);
      start = end + 1;
    }
    while (data.length - start > partialBytes) {
      const cut = cutPoint(data, start);
      yield { line: data.toString('utf8', start, cut), isPartial: true };
      start = cut;
    }
    // A copy, because a view would keep the whole chunk in memory.
    this.#rest = Buffer.from(data.subarray(start));
  }

  /** A last line without a line feed counts as a line. */
  *end(): Generator<CutLine> {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    if (rest.length > 0) yield* wholeLine(rest, 0, rest.length);
  }
}

function* wholeLine(data: Buffer, from: number, to: number): Generator<CutLine> {
  const end = to > from && data[to - 1] === carriageReturn ? to - 1 : to;
  let start = from;
  while (end - start > partialBytes) {
    const cut = cutPoint(data, start);
    yield { line: data.toString('utf8', start, cut), isPartial: true };
    start = cut;
  }
  yield { line: data.toString('utf8', start, end), isPartial: false };
}

/** Maximum number of bytes of a character after the first one. */
const tailBytesMax = 3;

/** Between two characters, and not between the two bytes of a line end. */
function cutPoint(data: Buffer, start: number): number {
  const end = start + partialBytes;
  let cut = end;
  while (isTail(data[cut]) && end - cut <= tailBytesMax) cut -= 1;
  // More continuation bytes than a character can have: this is not UTF-8, and can be split
  // anywhere.
  if (isTail(data[cut])) cut = end;
  return data[cut - 1] === carriageReturn ? cut - 1 : cut;
}

function isTail(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
