// Three versions of a Beads file brought together, issue by issue: what Beads' own merge driver is for, where git has none.
// Lines of different issues never contradict each other, however close they stand.

import { isObject } from './beads-format.ts';
import { parseLine } from './import-jsonl.ts';
import type { JsonObject } from './import-record.ts';

/** Of a path with slashes. */
export function isBeadsFile(path: string): boolean {
  return /(?:^|\/)\.beads\/[^/]+\.jsonl$/u.test(path);
}

export interface BeadsVersions {
  /** What both sides began with; empty when there was none. */
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/** Unix milliseconds of an RFC 3339 text; null when it is no time. The core has no calendar. */
export type TimeOf = (text: string) => number | null;

interface Line {
  readonly text: string;
  readonly record: JsonObject;
}

type Lines = ReadonlyMap<string, Line>;

/** Null when a line of one of them cannot be read, or stands for two issues: then nobody can tell what was meant. */
export function mergeBeadsLines(versions: BeadsVersions, timeOf: TimeOf): string | null {
  const [base, ours, theirs] = [versions.base, versions.ours, versions.theirs].map(linesOf);
  if (!base || !ours || !theirs) return null;
  const merged = new Map<string, string>();
  const take = (key: string): void => {
    const line = mergedLine(base.get(key), ours.get(key), theirs.get(key), timeOf);
    if (line !== null) merged.set(key, line);
  };
  for (const key of ours.keys()) take(key);
  for (const key of theirs.keys()) if (!ours.has(key)) take(key);
  const keys = [...merged.keys()];
  // bd writes its files in the order of the ids; others append.
  const order = isSorted([...ours.keys()]) && isSorted([...theirs.keys()]) ? keys.sort() : keys;
  return order.map((key) => `${merged.get(key) ?? ''}\n`).join('');
}

function linesOf(text: string): Lines | null {
  const lines = new Map<string, Line>();
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '') continue;
    const parsed = parseLine(line);
    if ('kind' in parsed || !isObject(parsed.object)) return null;
    const key = keyOf(parsed.object, line);
    const before = lines.get(key);
    if (before !== undefined && before.text !== line) return null;
    lines.set(key, { text: line, record: parsed.object });
  }
  return lines;
}

/** A line without an id (a memory, say) stands for its key, or for itself. */
function keyOf(record: JsonObject, line: string): string {
  const { id, _type: type, key } = record;
  if (typeof id === 'string') return id;
  return typeof type === 'string' && typeof key === 'string' ? `${type} ${key}` : line;
}

function isSorted(keys: readonly string[]): boolean {
  return keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') <= key);
}

/** Null: the line is gone. As with bd, what one side has deleted stays deleted, whatever the other did to it. */
function mergedLine(
  base: Line | undefined,
  ours: Line | undefined,
  theirs: Line | undefined,
  timeOf: TimeOf,
): string | null {
  if (ours === undefined || theirs === undefined) {
    return base === undefined ? ((ours ?? theirs)?.text ?? null) : null;
  }
  if (ours.text === theirs.text || theirs.text === base?.text) return ours.text;
  if (ours.text === base?.text) return theirs.text;
  const isTheirsNewer = timeOfRecord(theirs.record, timeOf) > timeOfRecord(ours.record, timeOf);
  return JSON.stringify(
    mergedRecord(base?.record ?? {}, ours.record, theirs.record, isTheirsNewer),
  );
}

function timeOfRecord(record: JsonObject, timeOf: TimeOf): number {
  const text = record['updated_at'] ?? record['timestamp'];
  return typeof text === 'string' ? (timeOf(text) ?? 0) : 0;
}

/** Belong together: bd refuses a closed issue without its time, and an open one with it. */
const stateKeys: ReadonlySet<string> = new Set([
  'status',
  'closed_at',
  'close_reason',
  'closed_by_session',
  'reason',
  'deleted_at',
  'deleted_by',
  'delete_reason',
  'original_type',
]);

function mergedRecord(
  base: JsonObject,
  ours: JsonObject,
  theirs: JsonObject,
  isTheirsNewer: boolean,
): JsonObject {
  const state = stateSide(base, ours, theirs, isTheirsNewer);
  const merged: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const value = stateKeys.has(key)
      ? state[key]
      : key === 'updated_at'
        ? (isTheirsNewer ? theirs : ours)[key]
        : mergedValue(base[key], ours[key], theirs[key], isTheirsNewer);
    if (value !== undefined) merged[key] = value;
  }
  return merged;
}

/** Whose words on the state hold: of the one who changed it; of both, the one that is further on. */
function stateSide(
  { status: before }: JsonObject,
  ours: JsonObject,
  theirs: JsonObject,
  isTheirsNewer: boolean,
): JsonObject {
  const newer = isTheirsNewer ? theirs : ours;
  if (ours['status'] === theirs['status']) return newer;
  if (ours['status'] === before) return theirs;
  if (theirs['status'] === before) return ours;
  const difference = rankOf(ours) - rankOf(theirs);
  return difference === 0 ? newer : difference > 0 ? ours : theirs;
}

function rankOf({ status }: JsonObject): number {
  return status === 'tombstone' ? 2 : status === 'closed' ? 1 : 0;
}

function mergedValue(
  base: unknown,
  ours: unknown,
  theirs: unknown,
  isTheirsNewer: boolean,
): unknown {
  if (isSame(ours, theirs) || isSame(theirs, base)) return ours;
  if (isSame(ours, base)) return theirs;
  if (Array.isArray(ours) || Array.isArray(theirs)) {
    return mergedList(listOf(base), listOf(ours), listOf(theirs), isTheirsNewer);
  }
  if (isObject(ours) && isObject(theirs)) {
    return mergedRecord(isObject(base) ? base : {}, ours, theirs, isTheirsNewer);
  }
  return isTheirsNewer ? theirs : ours;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** Labels, dependencies, comments: what either side has added is there, what either has taken away is not. */
function mergedList(
  base: readonly unknown[],
  ours: readonly unknown[],
  theirs: readonly unknown[],
  isTheirsNewer: boolean,
): readonly unknown[] {
  const [before, left, right] = [base, ours, theirs].map(
    (list) => new Map(list.map((item) => [itemKey(item), item])),
  );
  const merged: unknown[] = [];
  for (const key of new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])])) {
    const isInBoth = left?.has(key) === true && right?.has(key) === true;
    if (isInBoth) {
      merged.push(mergedValue(before?.get(key), left?.get(key), right?.get(key), isTheirsNewer));
    } else if (before?.has(key) !== true) {
      merged.push(left?.get(key) ?? right?.get(key));
    }
  }
  return merged;
}

function itemKey(item: unknown): string {
  if (!isObject(item)) return JSON.stringify(item);
  const { id, depends_on_id: to, type } = item;
  if (to !== undefined) return JSON.stringify([to, type]);
  return id === undefined ? JSON.stringify(item) : JSON.stringify(['id', id]);
}
