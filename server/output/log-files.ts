// The files of a log on this disk as they are stored: unchanged, in parts that a database can
// store.

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readMarks, listSegments } from '../agents/kit/log/event-log-files.ts';
import { readAt } from '../agents/kit/log/event-log-parts.ts';

/** Maximum bytes per part. */
export const partBytesMax = 256 * 1024;
/**
 * Maximum bytes of one file stored at once, if they contain a whole line. A longer line is stored
 * alone.
 */
const chainBytesMax = 1024 * 1024;
const newline = 0x0a;

/** One file to store, and how much of it its writer has finished. */
export interface ShippedFile {
  /** Relative to the log folder. */
  readonly file: string;
  readonly path: string;
  readonly size: number;
  /** A prompt is written as a whole, once for each part of a conversation; a log is appended to. */
  readonly isPrompt: boolean;
  readonly changedMs: number;
}

/** The prompt, the head and the existing segments, in the order in which they were written. */
export function filesOfLog(logs: string, file: string): ShippedFile[] {
  const path = join(logs, file);
  // Read before the sizes, so that the files contain everything that the marks cover.
  const marks = readMarks(path);
  const found: ShippedFile[] = [];
  const add = (name: string, isPrompt: boolean, sizeMax: (path: string) => number): void => {
    const one = join(logs, name);
    const facts = statSync(one, { throwIfNoEntry: false });
    if (facts === undefined) return;
    const size = Math.min(facts.size, sizeMax(one));
    found.push({ file: name, path: one, size, isPrompt, changedMs: facts.mtimeMs });
  };
  const all = Number.MAX_SAFE_INTEGER;
  add(`${file}.prompt`, true, () => all);
  add(file, false, () => marks?.log ?? all);
  for (const segment of listSegments(path)) {
    const name = `${dirname(file)}/${basename(segment.path)}`;
    add(name, false, (one) =>
      marks === null
        ? all
        : marks.log > segment.start
          ? headerOf(one) + marks.log - segment.start
          : 0,
    );
  }
  return found;
}

const headerBytesMax = 4_096;

function headerOf(path: string): number {
  return readRange(path, 0, headerBytesMax).indexOf(newline) + 1;
}

/** Empty if the file does not exist. */
export function readRange(path: string, start: number, size: number): Buffer {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
  try {
    return readAt(file, start, size);
  } finally {
    closeSync(file);
  }
}

export interface FileChunk {
  readonly start: number;
  readonly size: number;
  readonly text: string;
}

/** A longer line is stored in pieces of this size. */
const lineBytesMax = 64 * 1024 * 1024;

/** The output after an offset as parts with whole lines; empty if there isn't any. */
export function partsAfter(file: ShippedFile, start: number): FileChunk[] {
  const left = file.size - start;
  for (let wanted = chainBytesMax; left > 0; wanted *= 4) {
    const bytes = readRange(file.path, start, Math.min(wanted, left));
    if (bytes.length === 0) return [];
    const needsNoLine = file.isPrompt || bytes.length >= lineBytesMax;
    const end = needsNoLine
      ? characterEnd(bytes, bytes.length < left ? bytes.length - 1 : bytes.length)
      : bytes.lastIndexOf(newline) + 1;
    if (end > 0) return cutIntoParts(bytes.subarray(0, end), start);
    if (bytes.length < wanted) return [];
  }
  return [];
}

function cutIntoParts(bytes: Buffer, start: number): FileChunk[] {
  const parts: FileChunk[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = partEnd(bytes, at);
    parts.push({ start: start + at, size: end - at, text: storableText(bytes.subarray(at, end)) });
    at = end;
  }
  return parts;
}

/** After a line end if the bytes contain one, else between two characters. */
function partEnd(bytes: Buffer, at: number): number {
  const most = at + partBytesMax;
  if (most >= bytes.length) return bytes.length;
  const line = bytes.lastIndexOf(newline, most - 1) + 1;
  return line > at ? line : characterEnd(bytes, most);
}

/** That offset, or the start of the character that contains it. */
function characterEnd(bytes: Buffer, most: number): number {
  let end = most;
  while (end > most - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

const replacement = 0x3f;

/**
 * A text with the same number of bytes. A database stores neither zero characters nor broken UTF-8,
 * which a log contains only after a power failure. Each such byte becomes a question mark, so that
 * offsets stay valid.
 */
export function storableText(bytes: Buffer): string {
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8');
  const clean = Buffer.from(bytes);
  for (let at = 0; at < clean.length;) {
    const size = characterSize(clean, at);
    if (size > 0) {
      at += size;
      continue;
    }
    clean[at] = replacement;
    at += 1;
  }
  return clean.toString('utf8');
}

/** Bytes of the character that starts there; 0 if none does or it cannot be stored. */
function characterSize(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return first === 0 ? 0 : 1;
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  const character = bytes.subarray(at, at + size);
  return character.length === size && isUtf8(character) ? size : 0;
}

export function hashOfRange(path: string, start: number, size: number): string {
  const text = storableText(readRange(path, start, size));
  return createHash('sha256').update(text).digest('hex');
}

/** The logs of one attempt on this disk. */
export function logsOfAttempt(logs: string, taskId: string, attempt: number): string[] {
  let names: string[];
  try {
    names = readdirSync(join(logs, taskId));
  } catch {
    return [];
  }
  return names
    .filter((name) => name.startsWith(`${attempt}.`) && name.endsWith('.ndjson'))
    .map((name) => `${taskId}/${name}`);
}

export function fileExists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
