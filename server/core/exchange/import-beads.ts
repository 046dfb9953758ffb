// Converts a Beads file to a plan. One file may contain both shapes, so the shape of each line is
// detected separately.

import {
  criteriaFromText,
  priorityFromBd,
  detectShape,
  splitLabels,
  statusFromBeads,
  typeFromBd,
  type BeadsShape,
} from './beads-format.ts';
import { beadsHold, beadsHolds } from './beads-holds.ts';
import { checkId } from '../ids.ts';
import { nothingSaid } from './task-rules.ts';
import { parseLine } from './import-jsonl.ts';
import {
  maxDescriptionLength,
  withCriteria,
  type RecordFault,
  type RecordFields,
} from './import-record.ts';
import { shown } from './shown-values.ts';
import { checkReferences, type ReadRecord } from './import-references.ts';
import type { ImportedState, SessionPlan } from './import-session.ts';
import { settleRecords } from './import-settle.ts';
import {
  type ExistingProject,
  type ImportOptions,
  type ImportProblem,
  importProblemsMax,
  type ImportWarning,
} from './import-types.ts';
import type { TaskStatus } from '../plan/state.ts';
import { isObject, type JsonObject } from './json-object.ts';

interface Entry {
  readonly line: number;
  readonly kind: 'epic' | 'task';
  readonly shape: BeadsShape;
  readonly id: string;
  readonly record: JsonObject;
  readonly status: TaskStatus;
  readonly labels: readonly string[];
  readonly blockedBy: string[];
  /** Id of a task or an epic. */
  parentId: string | null;
}

interface Edge {
  readonly line: number;
  readonly from: string;
  readonly to: string;
  readonly kind: 'blocks' | 'parent';
}

interface ReadFile {
  readonly entries: Entry[];
  readonly edges: Edge[];
  /** Lines of the `bd` shape, as parsed. */
  readonly issues: JsonObject[];
  readonly problems: ImportProblem[];
  readonly warnings: ImportWarning[];
  /** Ids of lines that are not imported on purpose. */
  readonly skipped: Set<string>;
  readonly deleted: Set<string>;
  readonly refused: Map<string, number>;
}

export function parseBeads(
  lines: readonly string[],
  existing: ExistingProject,
  options: ImportOptions = {},
): SessionPlan {
  const read = readLines(lines, options);
  connect(read);
  const epicIds = new Set(existing.epics.keys());
  for (const { id, kind } of read.entries) if (kind === 'epic') epicIds.add(id);
  const records = read.entries.map((entry) => recordOf(entry, epicIds));
  const faults = checkReferences({ records, refusedLines: read.refused, existing });
  const problems = [...read.problems];
  for (const { line, fields } of records) {
    const fault = faults.get(line);
    if (fault !== undefined) problems.push({ line, id: fields.id, ...fault });
  }
  const good = records.filter(({ line }) => !faults.has(line));
  const settled = settleRecords(good, existing, options.onDiffers ?? 'refuse');
  problems.push(...settled.problems);
  const holds = options.holds === undefined ? new Map() : beadsHolds(read.issues, options.holds);
  const states = new Map<string, ImportedState>();
  for (const entry of read.entries) {
    if (entry.kind === 'task') {
      const id = settled.plan.renamed.get(entry.id) ?? entry.id;
      const state = stateOf(entry, holds.get(entry.id) ?? null);
      const closedAt = entry.record['closed_at'];
      const timeOf = options.holds?.timeOf;
      const closedAtMs = typeof closedAt === 'string' ? (timeOf?.(closedAt) ?? null) : null;
      states.set(id, { ...state, closedAtMs });
    }
  }
  return {
    ...settled.plan,
    problems: problems.toSorted((a, b) => a.line - b.line),
    warnings: read.warnings.toSorted((a, b) => a.line - b.line),
    states,
    closedEpics: read.entries.flatMap(({ kind, status, id }) =>
      kind === 'epic' && (status === 'completed' || status === 'cancelled') ? [id] : [],
    ),
    epicTimes: new Map(),
    deleted: read.deleted,
  };
}

function readLines(lines: readonly string[], options: ImportOptions): ReadFile {
  const read: ReadFile = {
    entries: [],
    edges: [],
    issues: [],
    problems: [],
    warnings: [],
    skipped: new Set(),
    deleted: new Set(),
    refused: new Map(),
  };
  const badUtf8 = new Set(options.badUtf8Lines);
  const usedOn = new Map<string, number>();
  for (const [index, raw] of lines.entries()) {
    if (read.problems.length > importProblemsMax) break;
    const line = index + 1;
    const text = raw.trim();
    if (text === '') continue;
    const parsed = badUtf8.has(line)
      ? ({ kind: 'json', message: 'the line is not UTF-8' } as const)
      : parseLine(text);
    if ('kind' in parsed) {
      read.problems.push({ line, id: null, ...parsed });
      continue;
    }
    const shape = detectShape(parsed.object);
    if (shape === null) {
      const message = 'the line is not a known record and was left out';
      read.warnings.push({ line, id: null, key: null, message });
    } else if (parsed.object['type'] === 'link' && shape === 'drover') {
      readLink(parsed.object, line, read);
    } else {
      readEntry(parsed.object, shape, line, { read, usedOn });
    }
  }
  return read;
}

function readLink(object: JsonObject, line: number, read: ReadFile): void {
  const data = isObject(object['data']) ? object['data'] : {};
  if (data['link_type'] !== 'blocked_by') return;
  const { from, to } = data;
  if (typeof from === 'string' && typeof to === 'string') {
    read.edges.push({ line, from, to, kind: 'blocks' });
    return;
  }
  const message = 'a link needs the strings `from` and `to`';
  read.problems.push({ line, id: null, kind: 'field', message });
}

function readEntry(
  object: JsonObject,
  shape: BeadsShape,
  line: number,
  { read, usedOn }: { readonly read: ReadFile; readonly usedOn: Map<string, number> },
): void {
  const record = shape === 'drover' && isObject(object['data']) ? object['data'] : object;
  const id = typeof object['id'] === 'string' ? object['id'] : null;
  const fault = entryFault(id, record, usedOn);
  if (id !== null && !usedOn.has(id)) usedOn.set(id, line);
  if (fault !== null || id === null) {
    read.problems.push({ line, id, ...(fault ?? { kind: 'id', message: '`id` is missing' }) });
    if (id !== null && !read.refused.has(id)) read.refused.set(id, line);
    return;
  }
  if (shape === 'bd') read.issues.push(record);
  const { labels, state } = splitLabels(texts(record['labels']));
  const reason = record['close_reason'] ?? record['reason'];
  const status = statusFromBeads(shape, record['status'], reason, state);
  if (status === null) {
    read.skipped.add(id);
    if (record['status'] === 'tombstone') read.deleted.add(id);
    const word = typeof record['status'] === 'string' ? shown(record['status']) : 'missing';
    const message = `not imported: its status is ${word}`;
    read.warnings.push({ line, id, key: 'status', message });
    return;
  }
  const isEpic = shape === 'drover' ? object['type'] === 'epic' : record['issue_type'] === 'epic';
  const kind = isEpic ? 'epic' : 'task';
  read.entries.push({
    line,
    kind,
    shape,
    id,
    record,
    status,
    labels,
    blockedBy: [],
    parentId: null,
  });
  if (shape === 'bd') readDependencies(record, id, line, read);
}

function entryFault(
  id: string | null,
  record: JsonObject,
  usedOn: ReadonlyMap<string, number>,
): RecordFault | null {
  if (id === null) return { kind: 'id', message: '`id` is missing or not a string' };
  const allowed = checkId(id);
  if (!allowed.ok) return { kind: 'id-unsafe', message: `the id ${shown(id)} ${allowed.reason}` };
  const line = usedOn.get(id);
  if (line !== undefined) {
    return { kind: 'id-twice', message: `the id ${shown(id)} is already used on line ${line}` };
  }
  const { title } = record;
  if (typeof title !== 'string' || title.trim() === '') {
    return { kind: 'title', message: '`title` is missing or blank' };
  }
  for (const key of ['title', 'description', 'design', 'notes', 'acceptance_criteria']) {
    const text = record[key] ?? '';
    if (typeof text !== 'string' || text.length > maxDescriptionLength) {
      return { kind: 'text', message: `\`${key}\` is not a string, or is too long` };
    }
    if (text.includes('\0') || !text.isWellFormed()) {
      return { kind: 'text', message: `a NUL character or a lone surrogate in \`${key}\`` };
    }
  }
  return null;
}

function texts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly unknown[]).filter((item) => typeof item === 'string');
}

function readDependencies(record: JsonObject, id: string, line: number, read: ReadFile): void {
  const list = record['dependencies'];
  if (!Array.isArray(list)) return;
  for (const entry of list as readonly unknown[]) {
    if (!isObject(entry)) continue;
    const from = typeof entry['issue_id'] === 'string' ? entry['issue_id'] : id;
    const to = entry['depends_on_id'];
    if (typeof to !== 'string') continue;
    if (entry['type'] === 'blocks') read.edges.push({ line, from, to, kind: 'blocks' });
    if (entry['type'] === 'parent-child') read.edges.push({ line, from, to, kind: 'parent' });
  }
}

/** Adds the edges to the entries. Edges that the plan cannot express become warnings. */
function connect(read: ReadFile): void {
  const byId = new Map(read.entries.map((entry) => [entry.id, entry]));
  for (const { line, from, to, kind } of read.edges) {
    const entry = byId.get(from);
    const why = noMeaning(read, entry, byId.get(to), { to, kind });
    if (entry !== undefined && why === null) {
      if (kind === 'parent') entry.parentId = to;
      else if (!entry.blockedBy.includes(to)) entry.blockedBy.push(to);
      continue;
    }
    if (entry !== undefined && isHold(read, entry, { to, kind })) continue;
    const message = `${shown(from)} to ${shown(to)} has no effect: ${why ?? 'the first is not in the file'}`;
    read.warnings.push({ line, id: from, key: 'dependencies', message });
  }
  for (const entry of read.entries) {
    const dot = entry.id.lastIndexOf('.');
    if (entry.shape === 'bd' || entry.kind === 'epic' || dot === -1) continue;
    const parent = byId.get(entry.id.slice(0, dot));
    if (parent?.kind === 'task' && /^\d+$/.test(entry.id.slice(dot + 1)))
      entry.parentId = parent.id;
  }
}

/** The plan has no such edge, but holds the task with a reason while the edge counts. */
function isHold(read: ReadFile, entry: Entry, { to, kind }: Pick<Edge, 'to' | 'kind'>): boolean {
  if (entry.shape !== 'bd' || kind !== 'blocks') return false;
  return read.issues.some(({ id, status }) => id === to && status !== 'tombstone');
}

function noMeaning(
  read: ReadFile,
  entry: Entry | undefined,
  target: Entry | undefined,
  edge: Pick<Edge, 'to' | 'kind'>,
): string | null {
  if (entry === undefined) return 'the first is not in the file';
  if (edge.to.startsWith('external:')) return 'it belongs to another project';
  if (read.skipped.has(edge.to)) return 'the second is not imported';
  if (entry.kind === 'epic') return 'an epic has no blockers and no parent here';
  if (edge.kind === 'blocks' && target?.kind === 'epic')
    return 'a task of this file cannot wait for an epic';
  return null;
}

function recordOf(entry: Entry, epicIds: ReadonlySet<string>): ReadRecord {
  const { record, shape, kind, id, line } = entry;
  const text = (key: string): string => (typeof record[key] === 'string' ? record[key] : '');
  const criteria = shape === 'bd' ? criteriaFromText(text('acceptance_criteria')) : [];
  const parentIsEpic = entry.parentId !== null && epicIds.has(entry.parentId);
  const fields: RecordFields = {
    kind,
    id,
    title: text('title')
      .replaceAll(/\s*[\r\n]+\s*/g, ' ')
      .trim(),
    description: withCriteria(descriptionOf(text), criteria),
    acceptanceCriteria: criteria,
    priority: shape === 'bd' ? priorityFromBd(record['priority']) : ownPriority(record['priority']),
    epicId: parentIsEpic ? entry.parentId : text('epic_id') === '' ? null : text('epic_id'),
    storyId: null,
    parentId: parentIsEpic ? null : entry.parentId,
    blockedBy: entry.blockedBy,
    labels: entry.labels,
    taskType: shape === 'bd' ? typeFromBd(record['issue_type']) : 'other',
    ...nothingSaid,
    warnings: [],
  };
  return { line, fields };
}

function ownPriority(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0;
}

/** bd has three texts; a Drover task has one description. */
function descriptionOf(text: (key: string) => string): string {
  const parts = [text('description').trim()];
  if (text('design').trim() !== '') parts.push(`Design:\n${text('design').trim()}`);
  if (text('notes').trim() !== '') parts.push(`Notes:\n${text('notes').trim()}`);
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Notes that the other tool ended the task, so that this tool may also reopen it. */
function endNote(status: TaskStatus, reason: unknown): string | null {
  const said = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
  if (status === 'paused') return `${beadsHold}deferred`;
  return status === 'completed' || status === 'cancelled' ? `${beadsHold}closed${said}` : null;
}

function stateOf({ status: said, record }: Entry, hold: string | null): ImportedState {
  const isHeld = hold !== null && said === 'ready';
  const status = isHeld ? 'blocked' : said;
  const reason = record['close_reason'] ?? record['reason'];
  return {
    status,
    attempts: 0,
    lastError: endNote(said, reason),
    operator: null,
    verdict: status === 'completed' ? 'pass' : 'unknown',
    verdictReason: typeof reason === 'string' && reason !== '' ? reason : null,
    blockedReason: isHeld ? hold : status === 'blocked' ? 'beads' : null,
    heldBy: isHeld || endNote(said, reason) !== null ? 'beads' : null,
    reviewKind: null,
    baseSha: null,
    branch: null,
    commitSha: null,
    landedSha: null,
    conflictFiles: [],
    heldFiles: [],
    rescueRefs: [],
    nextAttemptAtMs: null,
    waitingUntilMs: null,
    costUsd: 0,
    createdAt: null,
    updatedAt: null,
  };
}
