// A Beads file is shared with other tools: an export changes the lines of its own records and keeps every other line
// byte for byte, also those that nobody here understands.

import { isDeepStrictEqual } from 'node:util';

export interface MergedLines {
  readonly text: string;
  readonly added: number;
  readonly changed: number;
  /** Records that are newer in the file than here: theirs were kept. */
  readonly newerThere: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

interface RecordLine {
  readonly key: string;
  readonly id: string;
  readonly fields: Fields;
}

export function mergeRecordLines(present: string, fresh: string): MergedLines {
  const ours = new Map<string, RecordLine>();
  for (const line of fresh.split('\n')) {
    const record = recordOf(line);
    if (record !== null) ours.set(record.key, record);
  }
  const lines: string[] = [];
  const newerThere: string[] = [];
  let changed = 0;
  for (const line of linesOf(present)) {
    const record = recordOf(line);
    const mine = record === null ? undefined : ours.get(record.key);
    if (record === null || mine === undefined) {
      lines.push(line);
      continue;
    }
    ours.delete(record.key);
    const merged = mergeFields(record.fields, mine.fields);
    if (isSameBesideTimes(merged, record.fields)) {
      lines.push(line);
    } else if (changedAt(record.fields) > changedAt(mine.fields)) {
      newerThere.push(record.id);
      lines.push(line);
    } else {
      changed += 1;
      lines.push(`${JSON.stringify(merged)}${line.endsWith('\r\n') ? '\r\n' : '\n'}`);
    }
  }
  const last = lines.at(-1);
  if (last !== undefined && !last.endsWith('\n')) lines[lines.length - 1] = `${last}\n`;
  for (const { fields } of ours.values()) lines.push(`${JSON.stringify(fields)}\n`);
  return { text: lines.join(''), added: ours.size, changed, newerThere };
}

/** With their line ends. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
}

/** Two shapes may stand in one file: with `data` (key: type and id) and flat (key: id). */
function recordOf(line: string): RecordLine | null {
  let fields: unknown;
  try {
    fields = JSON.parse(line.replace(/^\ufeff/u, ''));
  } catch {
    return null;
  }
  if (!isFields(fields)) return null;
  const { id, type } = fields as { id?: unknown; type?: unknown };
  if (typeof id !== 'string') return null;
  const shape = isFields(fields['data']) && typeof type === 'string' ? `data ${type}` : 'flat';
  return { key: `${shape} ${id}`, id, fields };
}

/** Ours over theirs; what only they have stays. */
function mergeFields(theirs: Fields, ours: Fields): Fields {
  const merged: Record<string, unknown> = { ...theirs };
  for (const [key, value] of Object.entries(ours)) {
    const before = theirs[key];
    merged[key] =
      key === 'data' && isFields(before) && isFields(value) ? { ...before, ...value } : value;
  }
  return merged;
}

const timeKeys = ['timestamp', 'updated_at'] as const;

/** A new time alone is no change: the file would differ after every export. */
function isSameBesideTimes(a: Fields, b: Fields): boolean {
  const without = (fields: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([key]) => !timeKeys.includes(key as never)));
  return isDeepStrictEqual(without(a), without(b));
}

function changedAt(fields: Fields): number {
  for (const key of timeKeys) {
    const value = fields[key];
    const atMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
    if (!Number.isNaN(atMs)) return atMs;
  }
  return 0;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
