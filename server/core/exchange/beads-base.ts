// Finds the changes that another tool made to a Beads file since it was last synced with the plan.
// Compares fields instead of lines, because bd rewrites a line when it imports it: it sets the time
// of the import and drops empty lists.

import {
  priorityFromBd,
  detectShape,
  splitLabels,
  statusFromBeads,
  type BeadsShape,
} from './beads-format.ts';
import type { EpicContent, ExistingTask, ImportedEpic, ImportedTask } from './import-types.ts';
import { parseLine } from './import-jsonl.ts';
import { isObject, type JsonObject } from './json-object.ts';

/** Fields of a line that Drover's plan also has. */
export const beadsFields = [
  'title',
  'text',
  'priority',
  'labels',
  'type',
  'edges',
  'state',
] as const;
export type BeadsField = (typeof beadsFields)[number];

export interface BeadsChanges {
  /** The changed fields of lines that are new or different. */
  readonly changed: ReadonlyMap<string, ReadonlySet<BeadsField>>;
  /** Ids whose state (closed, deferred, open) changed. */
  readonly moved: ReadonlySet<string>;
  /** Ids whose line was removed. */
  readonly gone: ReadonlySet<string>;
}

export function changesSince(base: string, text: string): BeadsChanges {
  const before = linesById(base);
  const now = linesById(text);
  const changed = new Map<string, ReadonlySet<BeadsField>>();
  const moved = new Set<string>();
  for (const [id, line] of now) {
    const old = before.get(id);
    if (old === line) continue;
    const fields = old === undefined ? new Set(beadsFields) : changedFields(old, line);
    if (fields.size > 0) changed.set(id, fields);
    if (old !== undefined && fields.has('state')) moved.add(id);
  }
  const gone = [...before.keys()].filter((id) => !now.has(id));
  return { changed, moved, gone: new Set(gone) };
}

/**
 * Restores the old lines of these ids, so that their changes are detected again at the next sync.
 */
export function withOldLines(text: string, base: string, ids: ReadonlySet<string>): string {
  if (ids.size === 0) return text;
  const before = linesById(base);
  const lines = text.split('\n').flatMap((line) => {
    const id = idOf(line) ?? '';
    if (!ids.has(id)) return [line];
    const old = before.get(id);
    return old === undefined ? [] : [old];
  });
  return lines.join('\n');
}

/** A label or an edge that was removed from an issue. */
export interface LostPart {
  readonly id: string;
  readonly kind: 'label' | 'edge';
  readonly value: string;
}

/**
 * bd's import adds labels and edges but never removes any, so bd commands must remove them.
 */
export function lostParts(before: string, after: string): readonly LostPart[] {
  const now = linesById(after);
  return [...linesById(before)].flatMap(([id, line]) => {
    const left = new Set(partsOf(id, now.get(id) ?? line).map((part) => JSON.stringify(part)));
    return partsOf(id, line).filter((part) => !left.has(JSON.stringify(part)));
  });
}

function partsOf(id: string, line: string): readonly LostPart[] {
  const parsed = parseLine(line);
  if ('kind' in parsed || !isObject(parsed.object)) return [];
  const { labels, dependencies } = parsed.object;
  const edges = Array.isArray(dependencies) ? (dependencies as readonly unknown[]) : [];
  return [
    ...texts(labels).map((value) => ({ id, kind: 'label' as const, value })),
    ...edges
      .filter(isObject)
      .map((edge) => ({ id, kind: 'edge' as const, value: String(edge['depends_on_id']) })),
  ];
}

/**
 * Merges a record of the file into the stored task. Takes over only the fields that the other tool
 * changed, so that Drover's changes to the other fields are preserved.
 */
export function withChangedFields(
  record: ImportedTask,
  ours: ExistingTask,
  changed: ReadonlySet<BeadsField>,
): ImportedTask {
  const { title, description, acceptanceCriteria, priority, labels, type } = ours;
  const { blockedBy, parentId, epicId, sequence } = ours;
  return {
    ...record,
    ...(!changed.has('title') && { title }),
    ...(!changed.has('text') && { description, acceptanceCriteria }),
    ...(!changed.has('priority') && { priority }),
    ...(!changed.has('labels') && { labels }),
    ...(!changed.has('type') && { type }),
    ...(!changed.has('edges') && { blockedBy, parentId, epicId, sequence }),
  };
}

export function withChangedTexts(
  record: ImportedEpic,
  { title, description }: EpicContent,
  changed: ReadonlySet<BeadsField>,
): ImportedEpic {
  return {
    ...record,
    ...(!changed.has('title') && { title }),
    ...(!changed.has('text') && { description }),
  };
}

/** Returns all fields for a shape that stores parts of a record on other lines. */
function changedFields(before: string, now: string): ReadonlySet<BeadsField> {
  const [old, fresh] = [fieldsOf(before), fieldsOf(now)];
  if (old === null || fresh === null) return new Set(beadsFields);
  const changed = beadsFields.filter((field) => old.fields[field] !== fresh.fields[field]);
  const isWhole = changed.length > 0 && fresh.shape === 'drover';
  return new Set(isWhole ? beadsFields : changed);
}

interface LineFields {
  readonly shape: BeadsShape;
  /** Each value as canonical text, so that equal values have equal texts. */
  readonly fields: Readonly<Record<BeadsField, string>>;
}

/** Returns null for a line that is not an issue. */
function fieldsOf(line: string): LineFields | null {
  const parsed = parseLine(line);
  if ('kind' in parsed) return null;
  const shape = detectShape(parsed.object);
  if (shape === null) return null;
  const data = parsed.object['data'];
  const record = shape === 'drover' && isObject(data) ? data : parsed.object;
  const text = (key: string): string =>
    typeof record[key] === 'string' ? record[key].replaceAll('\r\n', '\n').trim() : '';
  const { labels, state } = splitLabels(texts(record['labels']));
  const reason = record['close_reason'] ?? record['reason'];
  const status = statusFromBeads(shape, record['status'], reason, state);
  const parts = ['description', 'design', 'notes', 'acceptance_criteria'].map(text);
  const fields = {
    title: text('title'),
    text: JSON.stringify(parts),
    priority: String(shape === 'bd' ? priorityFromBd(record['priority']) : record['priority']),
    labels: JSON.stringify([...new Set(labels)].toSorted()),
    type: text('issue_type') || 'task',
    edges: JSON.stringify([...edgesOf(record), text('epic_id')]),
    state: status ?? text('status'),
  };
  return { shape, fields };
}

function edgesOf(record: JsonObject): readonly string[] {
  const list = record['dependencies'];
  const edges = Array.isArray(list) ? (list as readonly unknown[]).filter(isObject) : [];
  return edges.map(({ type, depends_on_id: to }) => `${String(type)} ${String(to)}`).toSorted();
}

function texts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly unknown[]).filter((item) => typeof item === 'string');
}

function linesById(text: string): Map<string, string> {
  const lines = new Map<string, string>();
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    const id = idOf(line);
    if (id !== null) lines.set(id, line);
  }
  return lines;
}

function idOf(line: string): string | null {
  if (line.trim() === '') return null;
  const parsed = parseLine(line.trim());
  if ('kind' in parsed || !isObject(parsed.object)) return null;
  const { id } = parsed.object;
  return typeof id === 'string' ? id : null;
}
