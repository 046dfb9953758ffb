// Checks the fields of a task that a person gives, and converts them to columns.

import type { GivenChecks } from '../../core/exchange/given-rules.ts';
import { givenColumns } from '../../core/exchange/task-rule-columns.ts';
import type { TaskRuleColumns } from '../../core/exchange/task-rules.ts';
import { Refusal } from '../../core/failure.ts';
import { priorityOfWord } from '../../core/plan/priority.ts';
import { type RunPlace, runPlaces } from '../../core/settings/remote-settings.ts';
import { taskTypes } from '../../core/plan/task.ts';
import type { TaskFields } from '../../protocol/task-fields.ts';
import {
  checkedDescription,
  checkedList,
  checkedText,
  checkedTitle,
  checkedWord,
  shown,
} from '../rows/field-checks.ts';

/** Columns that a person sets. A key exists only if its field was given. */
export interface TaskColumns extends RuleColumns {
  title?: string;
  /** Without the acceptance criteria. */
  description?: string | null;
  priority?: number;
  type?: string;
  labels?: string;
  acceptance_criteria?: string;
}

type RuleColumns = { -readonly [Column in keyof TaskRuleColumns]?: TaskRuleColumns[Column] };

const checks: GivenChecks = {
  word: checkedWord,
  text: checkedText,
  refuse: (sentence) => {
    throw new Refusal('bad_value', sentence);
  },
};

export function checkTaskFields(fields: TaskFields): TaskColumns {
  const columns: TaskColumns = {};
  if (fields.title !== undefined) columns.title = checkedTitle(fields.title);
  if (fields.description !== undefined)
    columns.description = checkedDescription(fields.description);
  if (fields.priority !== undefined) columns.priority = checkedPriority(fields.priority);
  if (fields.type !== undefined) columns.type = checkedWord(fields.type, taskTypes, 'The type');
  if (fields.labels !== undefined) {
    columns.labels = JSON.stringify(checkedList(fields.labels, 'The list of labels'));
  }
  if (fields.accept !== undefined) {
    const criteria = checkedList(fields.accept, 'The list of acceptance criteria');
    columns.acceptance_criteria = JSON.stringify(criteria);
  }
  return Object.assign(columns, givenColumns(fields, checks));
}

/** Null or empty = use the settings. */
export function parseRunPlace(given: string | null): RunPlace | null {
  return given === null || given === '' ? null : checkedWord(given, runPlaces, 'The place');
}

/** Accepts any integer (as a number or as digits) or a word. */
export function checkedPriority(given: number | string): number {
  const word = typeof given === 'string' ? given.trim().toLowerCase() : '';
  const value =
    typeof given === 'number'
      ? given
      : (priorityOfWord(word) ?? (/^[+-]?\d+$/.test(word) ? Number(word) : Number.NaN));
  if (Number.isSafeInteger(value)) return value;
  throw new Refusal(
    'bad_value',
    `The priority is "${shown(String(given))}"; use a whole number (higher is sooner) or one of critical, high, normal, low.`,
  );
}
