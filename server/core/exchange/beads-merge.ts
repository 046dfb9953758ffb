// Merges a Beads file three ways, issue by issue. Replaces Beads' own merge driver if git has none
// configured. Lines of different issues never conflict, however close they are.

import { fnv1a } from '../fnv1a.ts';
import { parseLine } from './import-jsonl.ts';
import { isObject, type JsonObject } from './json-object.ts';

/** Accepts a path with slashes. */
export function isBeadsFile(path: string): boolean {
  return /(?:^|\/)\.beads\/[^/]+\.jsonl$/u.test(path);
}

export interface BeadsVersions {
  /** The common base of both sides; empty if there was none. */
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/**
 * Parses an RFC 3339 time to Unix milliseconds; null if it is not a time. Passed in because the
 * core has no calendar.
 */
export type TimeOf = (text: string) => number | null;

interface Line {
  readonly text: string;
  readonly record: JsonObject;
}

type Lines = ReadonlyMap<string, Line>;

/**
 * Returns null if a version has an unreadable line or two lines with one id, because the intent is
 * then unknown.
 */
export function mergeBeadsLines(versions: BeadsVersions, timeOf: TimeOf): string | null {
  const [base, left, right] = [versions.base, versions.ours, versions.theirs].map(linesOf);
  if (!base || !left || !right) return null;
  const ours = withoutTwins(base, left, right);
  const theirs = withoutCollisions(base, ours, withoutTwins(base, right, left));
  const merged = new Map<string, string>();
  const take = (key: string): void => {
    const line = mergedLine(base.get(key), ours.get(key), theirs.get(key), timeOf);
    if (line !== null) merged.set(key, line);
  };
  for (const key of ours.keys()) take(key);
  for (const key of theirs.keys()) if (!ours.has(key)) take(key);
  const keys = [...merged.keys()];
  // bd writes its file sorted by id; other tools append.
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

/**
 * bd can be configured to number its issues, so two worktrees may use one id for two issues. Gives
 * their issue a new id, which is always the same for the same issue, and updates the dependencies
 * on it.
 */
function withoutCollisions(base: Lines, ours: Lines, theirs: Lines): Lines {
  const renamed = new Map<string, string>();
  for (const [id, line] of theirs) {
    const other = ours.get(id);
    if (other === undefined || base.has(id) || !isAnotherIssue(line.record, other.record)) continue;
    renamed.set(id, `${id.replace(/-[^-]*$/u, '')}-${shortHash(line.text)}`);
  }
  return withNames(base, theirs, renamed);
}

/**
 * Drops a new issue if the other side already has it under another id and uses its id for a
 * different issue. This happens when a file meets an issue that an earlier landing renamed.
 */
function withoutTwins(base: Lines, own: Lines, other: Lines): Lines {
  const renamed = new Map<string, string>();
  const kept = new Map(own);
  for (const [id, { record }] of own) {
    const rival = other.get(id);
    const before = base.get(id);
    const isNew = before === undefined || isAnotherIssue(record, before.record);
    if (rival === undefined || !isNew || !isAnotherIssue(record, rival.record)) continue;
    for (const [twin, line] of other) {
      if (base.has(twin) || own.has(twin) || !isTwin(record, line.record)) continue;
      renamed.set(id, twin);
      kept.delete(id);
      break;
    }
  }
  return withNames(base, kept, renamed);
}

/** Applies new ids to the lines that this side changed. */
function withNames(base: Lines, lines: Lines, renamed: ReadonlyMap<string, string>): Lines {
  if (renamed.size === 0) return lines;
  const named = new Map<string, Line>();
  for (const [key, line] of lines) {
    const isOwn = base.get(key)?.text !== line.text;
    const record = isOwn ? withIds(line.record, renamed) : line.record;
    const text = record === line.record ? line.text : JSON.stringify(record);
    named.set(renamed.get(key) ?? key, { text, record });
  }
  return named;
}

function isTwin(a: JsonObject, b: JsonObject): boolean {
  const { created_at: createdAt, title } = a;
  return createdAt !== undefined && createdAt === b['created_at'] && title === b['title'];
}

function isAnotherIssue(a: JsonObject, b: JsonObject): boolean {
  const key = 'created_at' in a && 'created_at' in b ? 'created_at' : 'title';
  return a[key] !== b[key];
}

function withIds(record: JsonObject, renamed: ReadonlyMap<string, string>): JsonObject {
  const idOf = (id: unknown): unknown => (typeof id === 'string' ? (renamed.get(id) ?? id) : id);
  const edges = listOf(record['dependencies']).map((edge) =>
    isObject(edge)
      ? { ...edge, issue_id: idOf(edge['issue_id']), depends_on_id: idOf(edge['depends_on_id']) }
      : edge,
  );
  const hasEdges = edges.length > 0;
  const changed = {
    ...record,
    id: idOf(record['id']),
    ...(hasEdges ? { dependencies: edges } : {}),
  };
  return isSame(changed, record) ? record : changed;
}

/** In base 36, like bd's hashes. */
function shortHash(text: string): string {
  return fnv1a(text).toString(36).padStart(7, '0');
}

/** A line without an id, such as a memory, is identified by its key or its content. */
function keyOf(record: JsonObject, line: string): string {
  const { id, _type: type, key } = record;
  if (typeof id === 'string') return id;
  return typeof type === 'string' && typeof key === 'string' ? `${type} ${key}` : line;
}

function isSorted(keys: readonly string[]): boolean {
  return keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') <= key);
}

/**
 * Returns null if the line was deleted. As in bd, a deletion on one side wins over an edit on the
 * other.
 */
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

/**
 * These keys are taken from the same side: bd refuses a closed issue without a closing time, and an
 * open one with it.
 */
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

/**
 * Chooses the side whose state wins: the one that changed it or, if both did, the one with the
 * further advanced state.
 */
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

/** Applies the additions and the removals of both sides to labels, dependencies or comments. */
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
