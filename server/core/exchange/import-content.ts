// Checks whether a record equals the one that the project already has.

import type { EpicContent, TaskContent } from './import-types.ts';
import { sameTaskRules } from './task-rules.ts';

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

/** These lists ignore order and duplicates. */
function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return sameList([...new Set(a)].toSorted(), [...new Set(b)].toSorted());
}

/** Ignores a final line break. */
function sameText(a: string, b: string): boolean {
  return a.replace(/[\r\n]+$/, '') === b.replace(/[\r\n]+$/, '');
}

/** A field that a record omits (null) equals any value. */
function sameIfSaid<T>(said: T | null, has: T | null): boolean {
  return said === null || said === has;
}

export function sameContent(record: TaskContent, existing: TaskContent): boolean {
  return (
    record.id === existing.id &&
    record.title === existing.title &&
    sameText(record.description, existing.description) &&
    sameList(record.acceptanceCriteria, existing.acceptanceCriteria) &&
    record.epicId === existing.epicId &&
    record.parentId === existing.parentId &&
    record.type === existing.type &&
    record.priority === existing.priority &&
    sameSet(record.labels, existing.labels) &&
    sameSet(record.blockedBy, existing.blockedBy) &&
    sameTaskRules(record, existing)
  );
}

export function sameEpic(record: EpicContent, existing: EpicContent): boolean {
  return (
    record.id === existing.id &&
    record.title === existing.title &&
    sameText(record.description, existing.description) &&
    sameIfSaid(record.runsOn ?? null, existing.runsOn ?? null)
  );
}
