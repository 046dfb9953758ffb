// Finds the first line of a log that contains all words of a search, ignoring case.
//
// Lines are JSON: a word is first searched for in the bytes, and only a line that contains it is
// parsed and searched in its texts.

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
/** Fields of an event that are not displayed. */
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

/** `words`: at least one, in lower case. A missing log counts as empty. */
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
      // Yields to other work of the backend.
      await setImmediate();
    }
    return null;
  } finally {
    closeSync(file);
  }
}

/** Searches complete lines. The offset is relative to these bytes. */
export function findInLines(lines: Buffer, words: readonly string[]): FoundLine | null {
  const sought = words.map(asWritten);
  const longest = sought.toSorted((a, b) => b.length - a.length)[0] ?? '';
  if (longest === '') return null;
  // For ASCII, bytes equal characters and need no decoding.
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
    return null; // another program wrote into the file
  }
  if (typeof event !== 'object' || event === null) return null;
  const { type, at } = event as { readonly type?: unknown; readonly at?: unknown };
  if (typeof type !== 'string') return null;
  const read = Object.entries(event).filter(([field]) => !unread.has(field));
  const texts = read.flatMap(([, value]) => textsOf(value));
  const excerpt = excerptAround(texts.join('\n'), words);
  return excerpt === null ? null : { at: typeof at === 'number' ? at : 0, type, excerpt };
}

/** A word as it is written in a line of JSON. */
export function asWritten(word: string): string {
  return JSON.stringify(word).slice(1, -1);
}

/** Every text of a value, including texts in the input of a tool. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
