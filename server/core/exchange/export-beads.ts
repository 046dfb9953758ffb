// Merges the plan into a Beads file that other tools also write. Replaces only the lines of records
// that changed in the plan, and preserves every other line byte for byte.

import {
  criteriaFromText,
  criteriaToText,
  priorityFromBd,
  priorityToBd,
  sameJson,
  detectShape,
  statusToBeads,
  typeFromBd,
  typeToBd,
  type BeadsShape,
} from './beads-format.ts';
import {
  beadsClaimFields,
  closedRecord,
  isRunning,
  keptStatus,
  landedReason,
  toldAlready,
  toldStatus,
} from './beads-claim.ts';
import { parentsFirst } from './export-session.ts';
import { parseLine } from './import-jsonl.ts';
import { withoutCriteria } from './import-record.ts';
import type { Epic, Task } from '../plan/task.ts';
import { isObject, type JsonObject } from './json-object.ts';

export interface BeadsInput {
  readonly epics: readonly Epic[];
  readonly tasks: readonly Task[];
  /** The current text of the file; empty if the file does not exist. */
  readonly text: string;
  /** Ids whose lines must not change, even if the plan differs. */
  readonly leave?: ReadonlySet<string>;
  /** Ids that were removed from the plan. Their issues are closed and lose Drover's marks. */
  readonly removed?: ReadonlySet<string>;
  /** If true, canceled tasks get no new line, because the other side may have deleted it. */
  readonly isSync?: boolean;
  /** Shape of new lines if the file has none. */
  readonly shape: BeadsShape;
  /** Formats Unix milliseconds as RFC 3339, and parses them. The core has no calendar. */
  readonly timeText: (ms: number) => string;
  readonly timeOf: (text: string) => number | null;
}

interface Merging extends BeadsInput {
  /**
   * Whether the plan has a task or an epic with this id. Drover must not remove edges to other
   * issues.
   */
  readonly isOurs: (id: string) => boolean;
  readonly isEpic: (id: string) => boolean;
}

export interface BeadsOutput {
  readonly text: string;
  /**
   * Records that changed on both sides and are newer in the file. Their lines are preserved and the
   * plan's change is not written.
   */
  readonly losers: readonly string[];
}

export function mergeBeads(given: BeadsInput): BeadsOutput {
  const tasks = new Map(given.tasks.map((task) => [task.id, task]));
  const epics = new Map(given.epics.map((epic) => [epic.id, epic]));
  const input: Merging = {
    ...given,
    isOurs: (id) => tasks.has(id) || epics.has(id),
    isEpic: (id) => epics.has(id),
  };
  const seen = new Set<string>();
  const shapes: BeadsShape[] = [];
  const losers: string[] = [];
  const lines = input.text === '' ? [] : input.text.split('\n');
  const endsOpen = lines.at(-1) !== '';
  if (!endsOpen) lines.pop();
  const merged = lines.map((line) => {
    const parsed = line.trim() === '' ? null : parseLine(line.trim());
    if (parsed === null || 'kind' in parsed) return line;
    const shape = detectShape(parsed.object);
    const id = parsed.object['id'];
    if (shape === null || typeof id !== 'string') return line;
    shapes.push(shape);
    seen.add(id);
    if (isDroppedLink(parsed.object, tasks, input)) {
      const data = { ...(parsed.object['data'] as JsonObject), link_type: 'relates_to' };
      return JSON.stringify({ ...parsed.object, data });
    }
    const ours = tasks.get(id) ?? epics.get(id);
    if (input.leave?.has(id) === true) return line;
    if (ours === undefined) {
      const isRemoved = shape === 'bd' && input.removed?.has(id) === true;
      const closed = isRemoved ? closedRecord(parsed.object, input) : null;
      return closed === null ? line : JSON.stringify(closed);
    }
    if (isClosedMeanwhile(parsed.object, ours) || isDeleted(parsed.object, ours)) return line;
    if (isSame(parsed.object, shape, ours, input)) return line;
    const theirs = timeOfLine(parsed.object, input);
    // A sync has already read the new values of the file, so the remaining differences are changes
    // of the plan.
    const isNewer = 'updatedAt' in ours && theirs !== null && theirs > ours.updatedAt;
    if (isNewer && input.isSync !== true) {
      losers.push(id);
      return line;
    }
    return JSON.stringify(recordOf(ours, shape, input, parsed.object));
  });
  const shape = shapes[0] ?? input.shape;
  for (const record of [...input.epics, ...parentsFirst(input.tasks)]) {
    if (input.isSync === true && isOver(record, input.tasks, seen) && !seen.has(record.id))
      continue;
    if (!seen.has(record.id)) merged.push(JSON.stringify(recordOf(record, shape, input, {})));
    if (shape === 'drover' && 'blockedBy' in record) {
      merged.push(...newLinks(record, seen, input).map((link) => JSON.stringify(link)));
    }
  }
  const unchanged =
    merged.length === lines.length && merged.every((line, at) => line === lines[at]);
  if (unchanged) return { text: input.text, losers };
  return { text: merged.map((line) => `${line}\n`).join(''), losers };
}

/**
 * Canceled, or a closed epic without tasks that need it. If such a record has no line, the other
 * side may have deleted it.
 */
function isOver(record: Task | Epic, tasks: readonly Task[], seen: ReadonlySet<string>): boolean {
  if ('priority' in record) return record.status === 'cancelled';
  const isParent = tasks.some(
    ({ id, epicId, status }) => epicId === record.id && (status !== 'cancelled' || seen.has(id)),
  );
  return record.status === 'closed' && !isParent;
}

/**
 * A person or the agent closed the issue while the task runs. The end of the attempt decides its
 * state.
 */
function isClosedMeanwhile(line: JsonObject, ours: Task | Epic): boolean {
  return line['status'] === 'closed' && 'priority' in ours && isRunning(ours.status);
}

/** A deletion mark stays in the file and is not reverted for a task or an epic that is over. */
function isDeleted(line: JsonObject, ours: Task | Epic): boolean {
  return line['status'] === 'tombstone' && ['cancelled', 'closed'].includes(ours.status);
}

/** A dependency that the plan dropped. Its line stays, but no longer blocks. */
function isDroppedLink(
  line: JsonObject,
  tasks: ReadonlyMap<string, Task>,
  input: Merging,
): boolean {
  const data = isObject(line['data']) ? line['data'] : {};
  const { from: waiting, to: blocks, link_type: kind } = data;
  if (line['type'] !== 'link' || kind !== 'blocked_by') return false;
  const task = tasks.get(String(waiting));
  const blocker = String(blocks);
  if (task === undefined || !tasks.has(blocker) || task.blockedBy.includes(blocker)) return false;
  return (timeOfLine(line, input) ?? 0) <= task.updatedAt;
}

function timeOfLine(line: JsonObject, input: Merging): number | null {
  const text = line['updated_at'] ?? line['timestamp'];
  return typeof text === 'string' ? input.timeOf(text) : null;
}

/** Whether the line already matches our state, so that its bytes can stay unchanged. */
function isSame(line: JsonObject, shape: BeadsShape, ours: Task | Epic, input: Merging): boolean {
  const written = recordOf(ours, shape, input, line);
  if (shape === 'bd' && written['close_reason'] !== line['close_reason'] && 'landedSha' in ours) {
    // The reason must name the commit, even if an agent closed the issue before the landing.
    if (ours.landedSha !== null && written['status'] === 'closed') return false;
  }
  const ignored = new Set([
    'created_at',
    'updated_at',
    'timestamp',
    'closed_at',
    'close_reason',
    'reason',
  ]);
  return sameJson(meaning(line, shape, ignored), meaning(written, shape, ignored));
}

function meaning(line: JsonObject, shape: BeadsShape, ignored: ReadonlySet<string>): JsonObject {
  const record = shape === 'drover' && isObject(line['data']) ? line['data'] : line;
  const kept = Object.entries(record).filter(([key, value]) => {
    if (shape === 'drover' && key === 'priority' && value === 0) return false;
    return !ignored.has(key) && value !== null && value !== '' && !isEmptyList(value);
  });
  return Object.fromEntries(kept);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Writes our record over a line of the file, and preserves unknown keys. */
function recordOf(
  record: Task | Epic,
  shape: BeadsShape,
  input: Merging,
  before: JsonObject,
): JsonObject {
  return shape === 'drover' ? droverRecord(record, input, before) : bdRecord(record, input, before);
}

function labelsOf(task: Task, label: string | null): readonly string[] {
  return label === null ? task.labels : [...task.labels, label];
}

function droverRecord(record: Task | Epic, input: Merging, before: JsonObject): JsonObject {
  const data = isObject(before['data']) ? before['data'] : {};
  if (!('priority' in record)) {
    return {
      ...before,
      type: 'epic',
      id: record.id,
      timestamp: before['timestamp'] ?? input.timeText(record.createdAt),
      data: {
        ...data,
        title: record.title,
        description: record.description,
        status: record.status,
      },
    };
  }
  const told = toldAlready('drover', data, record, false);
  const { status, label, reason } = told
    ? toldStatus(data)
    : statusToBeads('drover', record.status, false);
  const { closed_at: closedAt, reason: oldReason, epic_id: oldEpic, ...open } = data;
  const at = input.timeText(record.updatedAt);
  const closed = { closed_at: (told && closedAt) || at, reason: (told && oldReason) || reason };
  // A sub-task belongs to its parent's epic, even if its line does not name it.
  const saysEpic =
    record.parentId === null || oldEpic !== undefined || before['data'] === undefined;
  return {
    ...before,
    type: 'bead',
    id: record.id,
    timestamp: at,
    data: {
      ...open,
      title: record.title,
      description: isSameText(data['description'], record.description)
        ? data['description']
        : record.description,
      status,
      priority: record.priority,
      labels: labelsOf(record, label),
      ...(record.epicId === null || !saysEpic ? {} : { epic_id: record.epicId }),
      ...(reason === null ? {} : closed),
    },
  };
}

function isSameText(written: unknown, ours: string): boolean {
  return typeof written === 'string' && written.trim() === ours.trim();
}

function bdRecord(record: Task | Epic, input: Merging, before: JsonObject): JsonObject {
  if (!('priority' in record)) {
    const closed = record.status === 'closed';
    const { closed_at: closedAt, close_reason: closeReason, ...rest } = before;
    const { status = 'open' } = before;
    return {
      ...rest,
      id: record.id,
      title: record.title,
      description: record.description,
      status: closed ? 'closed' : status === 'closed' ? 'open' : status,
      priority: before['priority'] ?? 2,
      issue_type: 'epic',
      created_at: before['created_at'] ?? input.timeText(record.createdAt),
      updated_at: before['updated_at'] ?? input.timeText(record.createdAt),
      ...(closed && {
        closed_at: closedAt ?? input.timeText(record.createdAt),
        ...(closeReason !== undefined && { close_reason: closeReason }),
      }),
    };
  }
  const outside =
    record.status === 'blocked' && record.blockedReason !== null && record.heldBy !== 'beads';
  const told = toldAlready('bd', before, record, outside);
  const { status, label, reason } = told
    ? toldStatus(before)
    : statusToBeads('bd', record.status, outside);
  const { closed_at: closedAt, close_reason: closeReason, ...rest } = before;
  const theirs = timeOfLine(before, input) ?? 0;
  // Must be later than the existing time, or bd ignores the change.
  const at = input.timeText(theirs > record.updatedAt ? theirs + 1 : record.updatedAt);
  return {
    ...rest,
    id: record.id,
    title: record.title,
    ...descriptionKeys(record, before),
    status: keptStatus(before, { status, label }),
    priority:
      // Always written in a new line, because bd treats a missing priority as the most urgent.
      before['id'] !== undefined && priorityFromBd(before['priority']) === record.priority
        ? before['priority']
        : priorityToBd(record.priority),
    issue_type: keptType(before, record),
    ...beadsClaimFields(record.status, labelsOf(record, label), before),
    dependencies: dependenciesOf(record, input, before),
    created_at: before['created_at'] ?? input.timeText(record.createdAt),
    updated_at: at,
    // bd refuses a closed record without a closing time, and an open one with it.
    ...(reason === null
      ? {}
      : {
          closed_at: (told && closedAt) || at,
          close_reason:
            landedReason(record, closeReason) ??
            ((told || isPersonal(before)) && closeReason ? closeReason : reason),
        }),
  };
}

/** Whether the record was closed with a reason that Drover did not write. */
function isPersonal({ status, close_reason: reason }: JsonObject): boolean {
  return status === 'closed' && reason !== 'cancelled' && reason !== 'completed';
}

function keptType(before: JsonObject, task: Task): unknown {
  const type = before['issue_type'];
  return typeof type === 'string' && type !== 'epic' && typeFromBd(type) === task.type
    ? type
    : typeToBd(task.type);
}

/** Leaves an equal text unchanged, even if the other tool splits it into three fields. */
function descriptionKeys(task: Task, before: JsonObject): JsonObject {
  const own = withoutCriteria(task.description, task.acceptanceCriteria);
  const text = (key: string): string => (typeof before[key] === 'string' ? before[key] : '');
  const parts = [text('description').trim()];
  if (text('design').trim() !== '') parts.push(`Design:\n${text('design').trim()}`);
  if (text('notes').trim() !== '') parts.push(`Notes:\n${text('notes').trim()}`);
  const same = parts.filter((part) => part !== '').join('\n\n') === own.trim();
  const criteria = text('acceptance_criteria');
  const sameCriteria =
    JSON.stringify(criteriaFromText(criteria)) === JSON.stringify(task.acceptanceCriteria);
  return {
    ...(same ? {} : { description: own }),
    ...(same || text('design') === '' ? {} : { design: '' }),
    ...(same || text('notes') === '' ? {} : { notes: '' }),
    ...(sameCriteria ? {} : { acceptance_criteria: criteriaToText(task.acceptanceCriteria) }),
  };
}

/**
 * Whether the plan can express the edge: between tasks, or from a task to its parent or its epic.
 */
function isPlanned(id: string, type: 'blocks' | 'parent-child', input: Merging): boolean {
  return input.isOurs(id) && (type === 'parent-child' || !input.isEpic(id));
}

function dependenciesOf(task: Task, input: Merging, before: JsonObject): readonly unknown[] {
  const wanted = new Map<string, 'blocks' | 'parent-child'>();
  for (const blocker of task.blockedBy) wanted.set(blocker, 'blocks');
  const parent = task.parentId ?? task.epicId;
  if (parent !== null) wanted.set(parent, 'parent-child');
  const list = Array.isArray(before['dependencies'])
    ? (before['dependencies'] as readonly unknown[])
    : [];
  const kept = list.filter((entry) => {
    if (!isObject(entry) || typeof entry['depends_on_id'] !== 'string') return true;
    const type = entry['type'];
    if (type !== 'blocks' && type !== 'parent-child') return true;
    if (!isPlanned(entry['depends_on_id'], type, input)) return true;
    if (wanted.get(entry['depends_on_id']) !== type) return false;
    wanted.delete(entry['depends_on_id']);
    return true;
  });
  const added = [...wanted].map(([id, type]) => ({
    issue_id: task.id,
    depends_on_id: id,
    type,
    created_at: input.timeText(task.createdAt),
    created_by: 'drover',
  }));
  return [...kept, ...added];
}

function newLinks(task: Task, seen: ReadonlySet<string>, input: Merging): readonly JsonObject[] {
  return task.blockedBy.flatMap((blocker) => {
    const id = `link-${task.id}-${blocker}`;
    if (seen.has(id)) return [];
    const data = { from: task.id, to: blocker, link_type: 'blocked_by' };
    return [{ type: 'link', id, timestamp: input.timeText(task.createdAt), data }];
  });
}
