// The fields of a task that a person gives, checked and brought into the form of the columns.

import type { TaskRuleColumns } from '../../core/exchange/task-rules.ts';
import { Refusal } from '../../core/failure.ts';
import { bestOfMax, chooseRules, isBestOf } from '../../core/plan/best-of.ts';
import { readSteps, stepsExpected } from '../../core/work/fallback.ts';
import { stepText } from '../../core/format.ts';
import { priorityOfWord } from '../../core/exchange/import-record.ts';
import { type RunPlace, runPlaces } from '../../core/settings/remote-settings.ts';
import { agentKinds, taskTypes, testModes, testScopes } from '../../core/plan/task.ts';
import type { TaskFields } from '../../protocol/task-fields.ts';
import {
  checkedDescription,
  checkedList,
  checkedText,
  checkedTitle,
  checkedWord,
  shown,
} from '../rows/field-checks.ts';

/** Columns that a person sets; a key is there exactly if its field was given. */
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

const attemptsMax = 10;

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
  if (fields.agent !== undefined) {
    columns.agent =
      fields.agent === null || fields.agent === ''
        ? null
        : checkedWord(fields.agent, agentKinds, 'The agent');
  }
  if (fields.fallback !== undefined) columns.fallback = checkedFallback(fields.fallback);
  if (fields.best_of !== undefined) columns.best_of = checkedBestOf(fields.best_of);
  if (fields.choose !== undefined) {
    columns.choose =
      fields.choose === null || fields.choose === ''
        ? null
        : checkedWord(fields.choose, chooseRules, 'The choice');
  }
  if (fields.gate !== undefined) {
    columns.test_command =
      fields.gate === null ? null : (checkedText(fields.gate, 'The gate')?.trim() ?? null);
  }
  if (fields.test_mode !== undefined) {
    columns.test_mode = checkedWord(fields.test_mode, testModes, 'The test mode');
  }
  if (fields.test_scope !== undefined) {
    columns.test_scope = checkedWord(fields.test_scope, testScopes, 'The test scope');
  }
  if (fields.max_attempts !== undefined) {
    columns.max_attempts = checkedAttempts(fields.max_attempts);
  }
  if (fields.plan !== undefined) {
    columns.plan = fields.plan ? 1 : 0;
  }
  if (fields.runs_on !== undefined) columns.runs_on = checkedRunsOn(fields.runs_on);
  return columns;
}

/** Null or empty: as the settings say. */
export function checkedRunsOn(given: string | null): RunPlace | null {
  return given === null || given === '' ? null : checkedWord(given, runPlaces, 'The place');
}

/** In the form of the column; null = as the settings say, an empty text = nobody. */
function checkedFallback(given: string | null): string | null {
  if (given === null || given.trim() === '') return null;
  if (given.trim() === 'none') return '';
  const steps = readSteps(given);
  if (steps.ok) return steps.value.map(stepText).join(',');
  throw new Refusal(
    'bad_value',
    `The fallback is not usable: ${steps.error}. Give ${stepsExpected}, or "none".`,
  );
}

function checkedBestOf(given: number): number {
  if (isBestOf(given)) return given;
  throw new Refusal(
    'bad_value',
    `The number of candidates is ${given}; use a whole number from 1 to ${bestOfMax}.`,
  );
}

/** Any integer (as a number or in digits), or a word. */
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

function checkedAttempts(given: number): number {
  if (Number.isInteger(given) && given >= 1 && given <= attemptsMax) return given;
  throw new Refusal(
    'bad_value',
    `The number of attempts is ${given}; use a whole number from 1 to ${attemptsMax}.`,
  );
}
