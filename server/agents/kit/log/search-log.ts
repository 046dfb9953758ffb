// Finds the first line of a log that contains all words of a search, whatever their case.
//
// Lines are JSON: a word is sought in the bytes first, and only a line that has it is parsed and
// searched in its texts.

import { closeSync, openSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { excerptAround } from '../../../core/history/search-words.ts';
import { escapePattern } from './masking.ts';
import { type LogPart, listLogParts, readAt } from './event-log-parts.ts';

export interface FoundLine {
  /** Logical offset of the line. */
  readonly offset: number;
  readonly at: number;
  readonly type: string;
  readonly excerpt: string;
}

const chunkBytes = 1024 * 1024;
const newline = 0x0a;
/** Fields of an event that no person reads. */
const unread: ReadonlySet<string> = new Set([
  'type',
  'id',
  'requestId',
  'sessionId',
  'stream',
  'kind',
  'level',
  'state',
]);

/** `words`: in lower case, at least one. A missing log counts as empty. */
export async function findInLog(path: string, words: readonly string[]): Promise<FoundLine | null> {
  for (const part of listLogParts(path)) {
    const found = await findInPart(part, words);
    if (found !== null) return found;
  }
  return null;
}

async function findInPart(part: LogPart, words: readonly string[]): Promise<FoundLine | null> {
  let file: number;
  try {
    file = openSync(part.path, 'r');
  } catch {
    return null; // dropped since the listing
  }
  try {
    let offset = 0;
    let rest = Buffer.alloc(0);
    while (offset + rest.length < part.size) {
      const at = offset + rest.length;
      const bytes = readAt(file, part.headerBytes + at, Math.min(chunkBytes, part.size - at));
      if (bytes.length === 0) return null;
      const data = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const end = data.lastIndexOf(newline) + 1;
      const found = findInLines(data.subarray(0, end), words);
      if (found !== null) return { ...found, offset: part.start + offset + found.offset };
      offset += end;
      rest = data.subarray(end);
      // Lets the backend do other work in between.
      await setImmediate();
    }
    return null;
  } finally {
    closeSync(file);
  }
}

/** In complete lines; the offset is the one in these bytes. */
export function findInLines(lines: Buffer, words: readonly string[]): FoundLine | null {
  const sought = words.map(asWritten);
  const longest = sought.toSorted((a, b) => b.length - a.length)[0] ?? '';
  if (longest === '') return null;
  // Bytes and characters are the same then, and need no decoding.
  const isAscii = /^[\x20-\x7e]*$/u.test(longest);
  const text = lines.toString(isAscii ? 'latin1' : 'utf8');
  const flags = isAscii ? 'gi' : 'giu';
  const place = new RegExp(escapePattern(longest), flags);
  for (let hit = place.exec(text); hit !== null; hit = place.exec(text)) {
    const from = text.lastIndexOf('\n', hit.index) + 1;
    const end = text.indexOf('\n', hit.index);
    const until = end < 0 ? text.length : end;
    const line = isAscii ? lines.toString('utf8', from, until) : text.slice(from, until);
    const found = foundIn(line, words);
    if (found !== null) {
      return { ...found, offset: isAscii ? from : Buffer.byteLength(text.slice(0, from)) };
    }
    place.lastIndex = until;
  }
  return null;
}

function foundIn(line: string, words: readonly string[]): Omit<FoundLine, 'offset'> | null {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return null; // a foreign hand wrote into the file
  }
  if (typeof event !== 'object' || event === null) return null;
  const { type, at } = event as { readonly type?: unknown; readonly at?: unknown };
  if (typeof type !== 'string') return null;
  const read = Object.entries(event).filter(([field]) => !unread.has(field));
  const texts = read.flatMap(([, value]) => textsOf(value));
  const excerpt = excerptAround(texts.join('\n'), words);
  return excerpt === null ? null : { at: typeof at === 'number' ? at : 0, type, excerpt };
}

/** A word as a line of JSON contains it. */
export function asWritten(word: string): string {
  return JSON.stringify(word).slice(1, -1);
}

/** Every text of a value: also those in the input of a tool. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
