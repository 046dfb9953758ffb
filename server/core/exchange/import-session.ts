// Parses a session file into the same plan as a JSONL file, plus the state of each task.

import { readSessionRules } from './session-rules.ts';
import { checkId } from '../ids.ts';
import {
  maxDescriptionLength,
  withCriteria,
  withoutCriteria,
  type RecordFault,
  type RecordFields,
} from './import-record.ts';
import { describeValue, shown } from './shown-values.ts';
import { checkReferences, type ReadRecord } from './import-references.ts';
import { settleRecords } from './import-settle.ts';
import type { ExistingProject, ImportOptions, ImportPlan, ImportProblem } from './import-types.ts';
import { sessionVersion } from './export-session.ts';
import { isOneOf } from '../one-of.ts';
import { taskStatuses, type TaskStatus } from '../plan/state.ts';
import { reviewKinds, taskTypes, verdicts, type Task } from '../plan/task.ts';
import { isObject, type JsonObject } from './json-object.ts';
import { toText, toTexts, toChoice, toNumber } from './session-values.ts';

/**
 * The state of a task in a session file, apart from its content. Times are Unix seconds, as in the
 * file.
 */
export interface ImportedState extends Pick<
  Task,
  | 'attempts'
  | 'lastError'
  | 'verdict'
  | 'verdictReason'
  | 'blockedReason'
  | 'heldBy'
  | 'reviewKind'
  | 'baseSha'
  | 'branch'
  | 'commitSha'
  | 'landedSha'
  | 'conflictFiles'
  | 'heldFiles'
  | 'rescueRefs'
  | 'costUsd'
> {
  /**
   * Never claimed, in_progress or waiting, because no user or machine has the task. `ready` and
   * `blocked` are derived from the blockers.
   */
  readonly status: TaskStatus;
  readonly operator: string | null;
  readonly nextAttemptAtMs: number | null;
  readonly waitingUntilMs: number | null;
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  /** Unix milliseconds at which the other tool closed it, if the file contains it. */
  readonly closedAtMs?: number | null;
}

export interface SessionPlan extends ImportPlan {
  /** By task id. */
  readonly states: ReadonlyMap<string, ImportedState>;
  /** Epics that are closed. */
  readonly closedEpics: readonly string[];
  /** Creation times of epics (Unix seconds) by id, if the file contains them. */
  readonly epicTimes: ReadonlyMap<string, number>;
  /** Records that the other tool has deleted. Absent if the format cannot express that. */
  readonly deleted?: ReadonlySet<string>;
}

/** All or nothing: any problem refuses the whole file. */
export function parseSession(
  text: string,
  existing: ExistingProject,
  options: Pick<ImportOptions, 'onDiffers'> = {},
): SessionPlan {
  const session = readDocument(text);
  if ('kind' in session) return refusedPlan([{ line: 1, id: null, ...session }]);
  const read = readSession(session);
  // The reference checks need a unique number per record; the ordinal replaces the line number.
  const faults = checkReferences({ records: read.records, refusedLines: read.refused, existing });
  const lineOf = lineFinder(text);
  const problems: ImportProblem[] = [...read.problems];
  for (const { line, fields } of read.records) {
    const fault = faults.get(line);
    if (fault !== undefined) problems.push({ line, id: fields.id, ...fault });
  }
  const good = read.records.filter(({ line }) => !faults.has(line));
  const settled = settleRecords(good, existing, options.onDiffers ?? 'refuse');
  problems.push(...settled.problems);
  const placed = problems.map((problem) => ({
    ...problem,
    line: problem.id === null ? 1 : lineOf(problem.id),
  }));
  const states = new Map<string, ImportedState>();
  for (const [id, state] of read.states) states.set(settled.plan.renamed.get(id) ?? id, state);
  return {
    ...settled.plan,
    problems: placed.toSorted((a, b) => a.line - b.line),
    warnings: [],
    states,
    closedEpics: read.closedEpics.map((id) => settled.plan.renamed.get(id) ?? id),
    epicTimes: new Map(
      [...read.epicTimes].map(([id, time]) => [settled.plan.renamed.get(id) ?? id, time]),
    ),
  };
}

function refusedPlan(problems: readonly ImportProblem[]): SessionPlan {
  return {
    epics: [],
    tasks: [],
    updatedEpics: [],
    updatedTasks: [],
    unchanged: { epics: [], tasks: [] },
    differs: [],
    renamed: new Map(),
    problems,
    warnings: [],
    states: new Map(),
    closedEpics: [],
    epicTimes: new Map(),
  };
}

interface SessionLists {
  readonly tasks: readonly unknown[];
  readonly epics: readonly unknown[];
  readonly dependencies: readonly unknown[];
}

function readDocument(text: string): SessionLists | RecordFault {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return { kind: 'json', message: 'the file is not JSON' };
  }
  if (!isObject(value)) return { kind: 'object', message: 'the file does not hold one object' };
  if (value['version'] !== sessionVersion) {
    const got = typeof value['version'] === 'string' ? shown(value['version']) : 'missing';
    return { kind: 'version', message: `\`version\` is ${got}; only \`1.0\` can be read` };
  }
  const lists: Record<string, readonly unknown[]> = {};
  for (const key of ['tasks', 'epics', 'dependencies']) {
    const list = value[key] ?? [];
    if (!Array.isArray(list)) {
      return { kind: 'field', message: `\`${key}\` is ${describeValue(list)}; use a list` };
    }
    lists[key] = list as readonly unknown[];
  }
  return {
    tasks: lists['tasks'] ?? [],
    epics: lists['epics'] ?? [],
    dependencies: lists['dependencies'] ?? [],
  };
}

interface ReadSession {
  readonly records: ReadRecord[];
  readonly problems: ImportProblem[];
  readonly refused: Map<string, number>;
  readonly states: Map<string, ImportedState>;
  readonly closedEpics: string[];
  readonly epicTimes: Map<string, number>;
}

function readSession(lists: SessionLists): ReadSession {
  const read: ReadSession = {
    records: [],
    problems: [],
    refused: new Map(),
    states: new Map(),
    closedEpics: [],
    epicTimes: new Map(),
  };
  const blockers = readDependencies(lists.dependencies, read.problems);
  const used = new Set<string>();
  const sources = [
    ...lists.epics.map((value) => ({ kind: 'epic' as const, value })),
    ...[...lists.tasks].toSorted(bySequence).map((value) => ({ kind: 'task' as const, value })),
  ];
  for (const [index, { kind, value }] of sources.entries()) {
    const line = index + 1;
    const id = isObject(value) && typeof value['id'] === 'string' ? value['id'] : null;
    const fields = isObject(value)
      ? readFields(value, kind, blockers.get(id ?? '') ?? [], used)
      : ({ kind: 'object', message: `a record is ${describeValue(value)}` } as const);
    if (id !== null) used.add(id);
    if ('message' in fields) {
      read.problems.push({ line, id, ...fields });
      if (id !== null) read.refused.set(id, line);
      continue;
    }
    read.records.push({ line, fields });
    if (!isObject(value)) continue;
    if (kind === 'task') {
      read.states.set(fields.id, readState(value));
      continue;
    }
    if (value['status'] === 'closed') read.closedEpics.push(fields.id);
    const createdAt = toNumber(value['created_at']);
    if (createdAt !== null) read.epicTimes.set(fields.id, Math.trunc(createdAt));
  }
  for (const id of blockers.keys()) {
    if (!used.has(id)) read.problems.push(noSuchTask(id));
  }
  return read;
}

function noSuchTask(id: string): ImportProblem {
  const message = `task ${shown(id)} of \`dependencies\` does not exist`;
  return { line: 1, id, kind: 'reference', message };
}

/** The order of the records gives the sub-tasks their sequence. */
function bySequence(a: unknown, b: unknown): number {
  return sequenceOf(a) - sequenceOf(b);
}

function sequenceOf(value: unknown): number {
  return isObject(value) && typeof value['sequence_number'] === 'number'
    ? value['sequence_number']
    : 0;
}

function readDependencies(
  list: readonly unknown[],
  problems: ImportProblem[],
): ReadonlyMap<string, readonly string[]> {
  const blockers = new Map<string, string[]>();
  for (const entry of list) {
    const task = isObject(entry) ? entry['task_id'] : null;
    const blocker = isObject(entry) ? entry['blocked_by'] : null;
    if (typeof task !== 'string' || typeof blocker !== 'string') {
      const message = 'an entry of `dependencies` needs the strings `task_id` and `blocked_by`';
      problems.push({ line: 1, id: null, kind: 'field', message });
      continue;
    }
    const known = blockers.get(task);
    if (known === undefined) blockers.set(task, [blocker]);
    else known.push(blocker);
  }
  return blockers;
}

function readFields(
  value: JsonObject,
  kind: 'epic' | 'task',
  blockedBy: readonly string[],
  used: ReadonlySet<string>,
): RecordFields | RecordFault {
  const fault = headFault(value, used);
  if (fault !== null) return fault;
  const extra = isObject(value['drover_ts']) ? value['drover_ts'] : {};
  const criteria = toTexts(extra['acceptance_criteria']);
  const priority = value['priority'] ?? 0;
  if (kind === 'task' && !Number.isSafeInteger(priority)) {
    return { kind: 'priority', message: '`priority` is not a whole number' };
  }
  const description = toText(value['description']) ?? '';
  const { plan = null, ...rules } = readSessionRules(value, extra);
  return {
    kind,
    id: String(value['id']),
    title: String(value['title'])
      .replaceAll(/\s*[\r\n]+\s*/g, ' ')
      .trim(),
    description: withCriteria(withoutCriteria(description, criteria), criteria),
    acceptanceCriteria: criteria,
    priority: Number(priority),
    epicId: toText(value['epic_id']),
    storyId: null,
    parentId: toText(value['parent_id']),
    blockedBy: [...new Set(blockedBy)],
    labels: toTexts(extra['labels']),
    taskType: toChoice(value['type'], taskTypes, 'other'),
    ...rules,
    ...(plan === null ? {} : { plan }),
    warnings: [],
  };
}

function headFault(value: JsonObject, used: ReadonlySet<string>): RecordFault | null {
  const { id, title, description } = value;
  if (typeof id !== 'string') {
    return { kind: 'id', message: `\`id\` is ${describeValue(id)}; use a string` };
  }
  const allowed = checkId(id);
  if (!allowed.ok) {
    return { kind: 'id-unsafe', message: `the id ${shown(id)} ${allowed.reason}` };
  }
  if (used.has(id)) {
    return { kind: 'id-twice', message: `the id ${shown(id)} is used twice in the file` };
  }
  if (typeof title !== 'string' || title.trim() === '') {
    return { kind: 'title', message: '`title` is missing or blank' };
  }
  const text = description ?? '';
  if (typeof text !== 'string' || text.length > maxDescriptionLength) {
    return { kind: 'text', message: '`description` is not a string, or is too long' };
  }
  if (`${title}${text}`.includes('\0') || !`${title}${text}`.isWellFormed()) {
    return { kind: 'text', message: 'a string holds a NUL character or a lone surrogate' };
  }
  return null;
}

function readState(value: JsonObject): ImportedState {
  const extra = isObject(value['drover_ts']) ? value['drover_ts'] : {};
  return {
    status: readStatus(extra['status'] ?? value['status']),
    attempts: Math.max(Math.trunc(toNumber(value['attempts']) ?? 0), 0),
    lastError: toText('last_error' in extra ? extra['last_error'] : value['last_error']),
    operator: toText(value['operator']),
    verdict: toChoice(value['verdict'], verdicts, 'unknown'),
    verdictReason: toText(value['verdict_reason']),
    blockedReason: toText(extra['blocked_reason']),
    heldBy: extra['held_by'] === 'beads' ? 'beads' : null,
    reviewKind: reviewKinds.find((kind) => kind === extra['review_kind']) ?? null,
    baseSha: toText(extra['base_sha']),
    branch: toText(extra['branch']),
    commitSha: toText(extra['commit_sha']),
    landedSha: toText(extra['landed_sha']),
    conflictFiles: toTexts(extra['conflict_files']),
    heldFiles: toTexts(extra['held_files']),
    rescueRefs: toTexts(extra['rescue_refs']),
    nextAttemptAtMs: toNumber(extra['next_attempt_at']),
    waitingUntilMs: toNumber(extra['waiting_until']),
    costUsd: toNumber(extra['cost']) ?? 0,
    createdAt: toNumber(value['created_at']),
    updatedAt: toNumber(value['updated_at']),
  };
}

/** An imported task has no running agent. A task with an unknown state needs a person's review. */
function readStatus(value: unknown): TaskStatus {
  if (!isOneOf(taskStatuses, value)) return 'needs_review';
  return ['claimed', 'in_progress', 'waiting'].includes(value) ? 'ready' : value;
}

/** Finds the line of the file that contains a record's id. */
function lineFinder(text: string): (id: string) => number {
  const lines = new Map<string, number>();
  let line = 1;
  let at = 0;
  for (const match of text.matchAll(/"id"\s*:\s*("(?:[^"\\\n]|\\.)*")/g)) {
    for (; at < match.index; at++) if (text[at] === '\n') line += 1;
    const quoted = match[1] ?? '';
    if (!lines.has(quoted)) lines.set(quoted, line);
  }
  return (id) => lines.get(JSON.stringify(id)) ?? 1;
}
