// The two shapes of a line in a Beads file: Drover's (`type`, `id`, `data`) and the `bd` tool's
// (`title` and `status` at the top level). Maps the words and numbers of each shape to Drover's and
// back.

import { type TaskStatus, taskStatuses } from '../plan/state.ts';
import type { TaskType } from '../plan/task.ts';
import { isObject, type JsonObject } from './json-object.ts';

export type BeadsShape = 'drover' | 'bd';

/**
 * Detects the shape of a line. Returns null if it is neither; such a line is preserved unchanged.
 */
export function detectShape(line: JsonObject): BeadsShape | null {
  const { type, data, title, status } = line;
  if (isObject(data) && typeof type === 'string' && ['epic', 'bead', 'link'].includes(type)) {
    return 'drover';
  }
  return typeof title === 'string' && typeof status === 'string' ? 'bd' : null;
}

/** Compares JSON values and ignores the order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    const [left, right]: readonly unknown[][] = [a, b];
    return (
      left !== undefined &&
      right !== undefined &&
      left.length === right.length &&
      left.every((item, index) => sameJson(item, right[index]))
    );
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

/** In bd, 0 is the most urgent. */
const readPriorities: readonly number[] = [10, 7, 5, 2, 0];

export function priorityFromBd(priority: unknown): number {
  return typeof priority === 'number' ? (readPriorities[priority] ?? 5) : 5;
}

export function priorityToBd(priority: number): number {
  if (priority >= 9) return 0;
  if (priority >= 6) return 1;
  if (priority >= 4) return 2;
  return priority >= 1 ? 3 : 4;
}

const readTypes: Readonly<Record<string, TaskType>> = { bug: 'bug', feature: 'feature' };

export function typeFromBd(type: unknown): TaskType {
  return typeof type === 'string' && Object.hasOwn(readTypes, type)
    ? (readTypes[type] ?? 'other')
    : 'other';
}

export function typeToBd(type: TaskType): string {
  switch (type) {
    case 'bug':
    case 'fix':
      return 'bug';
    case 'feature':
      return 'feature';
    case 'refactor':
      return 'chore';
    case 'test':
    case 'docs':
    case 'research':
    case 'other':
      return 'task';
  }
}

/** Whether a reason for closing means "given up" instead of "done". */
export function isGivenUp(reason: unknown): boolean {
  return (
    typeof reason === 'string' &&
    /^(wont[ -]?fix|won't fix|duplicate|cancelled|canceled|obsolete|invalid)\b/i.test(reason.trim())
  );
}

const stateLabel = new RegExp(`^drover:(${taskStatuses.join('|')})$`, 'u');
const labelledStates: readonly TaskStatus[] = ['paused', 'failed', 'conflict', 'needs_review'];

/**
 * A label `drover:<state>` stores a state that the other tool does not have; it is not a label of
 * the task.
 */
export function splitLabels(labels: readonly string[]): {
  readonly labels: readonly string[];
  readonly state: TaskStatus | null;
} {
  return {
    labels: labels.filter((label) => !stateLabel.test(label)),
    state: labelledStates.find((state) => labels.includes(`drover:${state}`)) ?? null,
  };
}

/**
 * Maps a status to ours. Returns null if the record must not be imported: it is deleted, or its
 * status is unknown.
 */
export function statusFromBeads(
  shape: BeadsShape,
  status: unknown,
  reason: unknown,
  labelled: TaskStatus | null,
): TaskStatus | null {
  if (status === 'closed') return isGivenUp(reason) ? 'cancelled' : 'completed';
  if (shape === 'drover') return labelled ?? 'ready';
  switch (status) {
    case 'open':
    case 'in_progress':
      return labelled ?? 'ready';
    case 'blocked':
      return 'blocked';
    case 'deferred':
      return 'paused';
    default:
      return null;
  }
}

export interface BeadsStatus {
  readonly status: string;
  /** Stored in a label beside the status. */
  readonly label: string | null;
  readonly reason: string | null;
}

/** `outside`: blocked by an external cause, not by a task. */
export function statusToBeads(
  shape: BeadsShape,
  status: TaskStatus,
  outside: boolean,
): BeadsStatus {
  const drover = shape === 'drover';
  switch (status) {
    case 'ready':
      return { status: 'open', label: null, reason: null };
    case 'blocked':
      return { status: outside && !drover ? 'blocked' : 'open', label: null, reason: null };
    case 'claimed':
      return { status: drover ? 'open' : 'in_progress', label: null, reason: null };
    case 'in_progress':
      return { status: drover ? 'active' : 'in_progress', label: null, reason: null };
    case 'completed':
      return { status: 'closed', label: null, reason: 'completed' };
    case 'cancelled':
      return { status: 'closed', label: null, reason: 'cancelled' };
    case 'paused':
    case 'waiting':
    case 'failed':
      return { status: 'open', label: `drover:${status}`, reason: null };
    case 'conflict':
    case 'needs_review':
      return { status: drover ? 'open' : 'in_progress', label: `drover:${status}`, reason: null };
  }
}

/**
 * Splits one text into a list. Lines that start with a dash, a star, a checkbox or a number are
 * criteria; without such lines, the whole text is one criterion.
 */
export function criteriaFromText(text: string): readonly string[] {
  const lines = text.split(/\r?\n/).flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  const marked = /^(?:[-*]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.+)$/;
  const items = lines.map((line) => marked.exec(line)?.[1]?.trim());
  const whole = text.trim();
  if (items.length > 0 && items.every((item) => item !== undefined)) return items;
  return whole === '' ? [] : [whole];
}

export function criteriaToText(criteria: readonly string[]): string {
  return criteria.length === 1
    ? (criteria[0] ?? '')
    : criteria.map((item) => `- ${item}`).join('\n');
}
