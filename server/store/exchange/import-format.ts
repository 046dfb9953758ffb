// Detects a file's format from its content, because file names are unreliable.

import { isObject, type JsonObject } from '../../core/exchange/json-object.ts';

export type ImportFormat = 'session' | 'jsonl' | 'beads';

/**
 * Maximum number of records without a known format (headers and notes of other tools) that are
 * skipped.
 */
const shapelessMax = 1_000;

/**
 * The first record that has a format's shape decides, because a file may start with a header or
 * with notes of another tool. The default is JSONL, whose error messages are the most useful.
 */
export function sniffFormat(file: { readonly text: string; readonly file: string }): ImportFormat {
  const text = file.text.replace(/^\uFEFF/u, '').trimStart();
  let shapeless = 0;
  for (const line of linesOf(text)) {
    const record = recordOf(line);
    // A session is usually one object that spans many lines.
    if (record === null && /^\{\s*$/u.test(line)) return 'session';
    const format = record === null ? null : formatOf(record);
    if (format !== null) return format;
    shapeless += 1;
    if (shapeless > shapelessMax) break;
  }
  return file.file.toLowerCase().endsWith('.drover') ? 'session' : 'jsonl';
}

/** Returns null if the record does not match any format. */
function formatOf(record: JsonObject): ImportFormat | null {
  const { type } = record;
  if ('version' in record && ('tasks' in record || 'exportedAt' in record)) return 'session';
  if (isObject(record['data']) && ['epic', 'bead', 'link'].includes(String(type))) return 'beads';
  if ('issue_type' in record) return 'beads';
  if ('title' in record && 'status' in record && !('type' in record)) return 'beads';
  return 'title' in record && type !== undefined ? 'jsonl' : null;
}

/**
 * Detects YAML by the file's name or by the first characters that `export` writes. A file of
 * records is never YAML, whatever its name.
 */
export function isYaml(file: { readonly text: string; readonly file: string }): boolean {
  if (/^\s*[{[]/u.test(file.text.replace(/^\uFEFF/u, ''))) return false;
  return /\.ya?ml$/iu.test(file.file) || /^(?:---\s*\n)?version: /u.test(file.text);
}

/** Yields lines without blank ones and comments. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    const line = text.slice(start, end).trim();
    start = end + 1;
    if (line !== '' && !line.startsWith('#')) yield line;
  }
}

/** Returns null if the line is not a single object. */
function recordOf(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
