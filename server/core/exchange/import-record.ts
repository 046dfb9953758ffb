// Reads one record of a JSONL import. Checks only its own fields; references are checked later.

import { isOneOf } from '../one-of.ts';
import { normalPriority, priorityOfWord } from '../plan/priority.ts';
import { checkId } from '../ids.ts';
import type { ImportProblemKind } from './import-types.ts';
import { taskTypes, type TaskType } from '../plan/task.ts';
import { describeValue, shown } from './shown-values.ts';
import { readTaskRules, taskRuleKeys, type TaskRules } from './task-rules.ts';
import type { JsonObject } from './json-object.ts';

export const maxTitleLength = 1_000;
/** The same as the maximum length of a line. */
export const maxDescriptionLength = 8 * 1024 * 1024;

export type RecordKind = 'epic' | 'story' | 'task';
const recordKinds: readonly string[] = ['epic', 'story', 'task'] satisfies RecordKind[];

export interface RecordFault {
  readonly kind: ImportProblemKind;
  readonly message: string;
}

export interface RecordWarning {
  readonly key: string;
  readonly message: string;
}

/** The fields of a record, valid by themselves. */
export interface RecordFields extends TaskRules {
  readonly kind: RecordKind;
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly acceptanceCriteria: readonly string[];
  readonly priority: number;
  readonly epicId: string | null;
  readonly storyId: string | null;
  readonly parentId: string | null;
  readonly blockedBy: readonly string[];
  readonly labels: readonly string[];
  readonly taskType: TaskType;
  readonly warnings: readonly RecordWarning[];
}

const commonKeys = ['id', 'type', 'title', 'description', 'priority', 'labels', 'runs_on'];
const storyKeys = [
  ...commonKeys,
  'epic_id',
  'story_points',
  'estimated_hours',
  'acceptance_criteria',
  'blocked_by',
  'task_type',
  ...taskRuleKeys,
];
const knownKeys: { readonly [K in RecordKind]: ReadonlySet<string> } = {
  epic: new Set(commonKeys),
  story: new Set(storyKeys),
  task: new Set([...storyKeys, 'story_id', 'parent_id']),
};

/**
 * Returns the fields, or the first fault in the order of the checks. `null` values count as
 * missing.
 */
export function readRecord(
  record: JsonObject,
  isUsed: (id: string) => RecordFault | null,
): RecordFields | RecordFault {
  const { id, type, title } = record;
  if (typeof id !== 'string') return idFault(id);
  const allowed = checkId(id);
  if (!allowed.ok) return fault('id-unsafe', `the id ${shown(id)} ${allowed.reason}`);
  const used = isUsed(id);
  if (used !== null) return used;
  const kinds = 'use epic, story or task';
  if (type === undefined || type === null) return fault('type', `\`type\` is missing; ${kinds}`);
  if (typeof type !== 'string') {
    return fault('type', `\`type\` is ${describeValue(type)}; ${kinds}`);
  }
  if (!recordKinds.includes(type)) return fault('type', `\`type\` is ${shown(type)}; ${kinds}`);
  const textFault = titleFault(title) ?? textsFault(record);
  if (textFault !== null) return textFault;
  const priority = readPriority(record['priority']);
  if (typeof priority !== 'number') return priority;
  return readFields(record, {
    id,
    kind: type as RecordKind,
    title: String(title)
      .replaceAll(/\s*[\r\n]+\s*/g, ' ')
      .trim(),
    priority,
  });
}

function fault(kind: ImportProblemKind, message: string): RecordFault {
  return { kind, message };
}

function idFault(id: unknown): RecordFault {
  if (id === undefined || id === null) return fault('id', '`id` is missing');
  return fault('id', `\`id\` is ${describeValue(id)}; use a string`);
}

function titleFault(title: unknown): RecordFault | null {
  if (title === undefined || title === null) return fault('title', '`title` is missing');
  if (typeof title !== 'string') {
    return fault('title', `\`title\` is ${describeValue(title)}; use a string`);
  }
  if (title.trim() === '') return fault('title', '`title` is blank');
  if (title.length > maxTitleLength) {
    return fault('title', `\`title\` has ${title.length} characters; at most 1,000 are allowed`);
  }
  return null;
}

/**
 * Checks every known text of the record, including texts in lists, because control characters break
 * terminals, files and databases.
 */
function textsFault(record: JsonObject): RecordFault | null {
  const { description } = record;
  if (description !== undefined && description !== null && typeof description !== 'string') {
    const got = describeValue(description);
    return fault('text', `\`description\` is ${got}; use a string`);
  }
  if (typeof description === 'string' && description.length > maxDescriptionLength) {
    const length = description.length;
    return fault('text', `\`description\` has ${length} characters; at most 8,388,608 are allowed`);
  }
  for (const key of knownKeys.task) {
    const value = record[key];
    const texts: readonly unknown[] = Array.isArray(value) ? (value as unknown[]) : [value];
    for (const text of texts) {
      const what = typeof text === 'string' ? badCharacter(text) : null;
      if (what !== null) return fault('text', `${what} in \`${key}\``);
    }
  }
  return null;
}

function badCharacter(text: string): string | null {
  // eslint-disable-next-line no-control-regex
  const found = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/.exec(text);
  if (found !== null) {
    const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `control character U+${code}`;
  }
  return text.isWellFormed() ? null : 'a lone surrogate';
}

const priorityRule =
  'a whole number from 0 to 100 or one of critical, urgent, high, normal, medium, low';

function readPriority(value: unknown): number | RecordFault {
  if (value === undefined || value === null) return normalPriority;
  if (typeof value === 'string') {
    const word = priorityOfWord(value);
    if (word !== null) return word;
    if (!/^-?[0-9]{1,15}$/.test(value)) {
      return fault('priority', `\`priority\` is ${shown(value)}; expected ${priorityRule}`);
    }
    return readPriority(Number(value));
  }
  if (typeof value !== 'number') {
    return fault('priority', `\`priority\` is ${describeValue(value)}; expected ${priorityRule}`);
  }
  if (!Number.isInteger(value)) {
    return fault('priority', `\`priority\` is ${value}; use a whole number from 0 to 100`);
  }
  if (value < 0 || value > 100) {
    return fault('priority', `\`priority\` is ${value}; use 0 to 100`);
  }
  return value;
}

type Head = Pick<RecordFields, 'id' | 'kind' | 'title' | 'priority'>;

function readFields(record: JsonObject, head: Head): RecordFields | RecordFault {
  const known = knownKeys[head.kind];
  const faults: string[] = [];
  const warnings: RecordWarning[] = unknownKeyWarnings(record, head.kind);
  const valueOf = (key: string): unknown => (known.has(key) ? (record[key] ?? null) : null);
  const text = (key: string): string | null => {
    const value = valueOf(key);
    if (value === null || typeof value === 'string') return value;
    faults.push(`\`${key}\` is ${describeValue(value)}; use a string`);
    return null;
  };
  const choice = <T extends string>(key: string, choices: readonly T[]): T | null => {
    const value = text(key);
    if (value === null || isOneOf(choices, value)) return value;
    faults.push(`\`${key}\` is ${shown(value)}; use one of ${choices.join(', ')}`);
    return null;
  };
  const texts = (key: string): readonly string[] => {
    const read = readTexts(key, valueOf(key));
    if (typeof read === 'string') faults.push(read);
    return typeof read === 'string' ? [] : read;
  };
  for (const key of ['story_points', 'estimated_hours']) {
    const message = amountFault(key, valueOf(key));
    if (message !== null) faults.push(message);
  }
  const labels = texts('labels');
  const criteria = texts('acceptance_criteria');
  const [epicId, storyId, parentId] = [text('epic_id'), text('story_id'), text('parent_id')];
  if (storyId !== null && parentId !== null && storyId !== parentId) {
    faults.push('`story_id` and `parent_id` name different tasks; one parent is allowed');
  }
  const blockedBy = texts('blocked_by');
  const taskType = choice('task_type', taskTypes);
  const rules = readTaskRules({ valueOf, faults });
  if (valueOf('test_mode') === 'lenient') {
    warnings.push({ key: 'test_mode', message: '`test_mode` `lenient` is read as `strict`' });
  }
  const first = faults[0];
  if (first !== undefined) return fault('field', first);
  return {
    ...head,
    description: withCriteria(text('description') ?? '', criteria),
    acceptanceCriteria: criteria,
    epicId,
    storyId,
    parentId,
    blockedBy: [...new Set(blockedBy)],
    labels: [...new Set(labels)],
    taskType: taskType ?? 'other',
    ...rules,
    warnings,
  };
}

function unknownKeyWarnings(record: JsonObject, kind: RecordKind): RecordWarning[] {
  return Object.keys(record).flatMap((key) => {
    if (knownKeys[kind].has(key)) return [];
    const meaning = knownKeys.task.has(key) ? `has no meaning in a record of type ${kind}` : '';
    const message = meaning === '' ? `unknown key ${shown(key)}` : `key ${shown(key)} ${meaning}`;
    return [{ key, message }];
  });
}

/**
 * Reads a list of strings, or a single string if the format allows it. Returns a description of the
 * fault otherwise.
 */
function readTexts(key: string, value: unknown): readonly string[] | string {
  if (value === null) return [];
  if (key === 'acceptance_criteria' && typeof value === 'string') return nonBlank([value]);
  const needed =
    key === 'acceptance_criteria' ? 'a string or a list of strings' : 'a list of strings';
  if (!Array.isArray(value)) return `\`${key}\` is ${describeValue(value)}; use ${needed}`;
  const items: readonly unknown[] = value;
  if (items.length > 10_000) return `\`${key}\` has more than 10,000 items`;
  const odd = items.find((item) => typeof item !== 'string');
  if (odd !== undefined) return `\`${key}\` holds ${describeValue(odd)}; use ${needed}`;
  return nonBlank(items as readonly string[]);
}

function nonBlank(texts: readonly string[]): readonly string[] {
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}

function amountFault(key: string, value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== 'number') return `\`${key}\` is ${describeValue(value)}; use a number`;
  if (!Number.isFinite(value)) return `\`${key}\` is too large`;
  return value < 0 ? `\`${key}\` is negative; use 0 or more` : null;
}

const criteriaHeading = 'Acceptance Criteria:';

/** Appends the criteria to the description. Ignores its final line break. */
export function withCriteria(description: string, criteria: readonly string[]): string {
  const text = description.replace(/[\r\n]+$/, '');
  if (criteria.length === 0) return text;
  const lines = criteria.map((criterion) => `- ${criterion.replaceAll(/\s*[\r\n]+\s*/g, ' ')}`);
  const block = [criteriaHeading, ...lines].join('\n');
  return text === '' ? block : `${text}\n\n${block}`;
}

/** The inverse: removes the appended criteria from the description. */
export function withoutCriteria(description: string, criteria: readonly string[]): string {
  if (criteria.length === 0) return description;
  const block = withCriteria('', criteria);
  if (description === block) return '';
  return description.endsWith(`\n\n${block}`)
    ? description.slice(0, -block.length - 2)
    : description;
}
