// Converts the rules of a task to database columns and back.

import type { GivenChecks, GivenKind, GivenKinds } from './given-rules.ts';
import {
  type TaskRuleKinds,
  type TaskRules,
  type TaskRuleColumns,
  type ColumnValue,
  taskRules,
  taskRulesFrom,
} from './task-rules.ts';

export function taskRulesOfColumns(
  row: Readonly<Record<keyof TaskRuleColumns, ColumnValue>>,
): TaskRules {
  return taskRulesFrom(
    taskRules.map(([name, rule]) => [name, rule.ofColumn(row[rule.column])] as const),
  );
}

/** Returns every column. Omitted values get the defaults of a new task. */
export function columnsOfTaskRules(
  record: TaskRules & { readonly maxAttempts: number },
): TaskRuleColumns {
  const unsaid = taskRules.map(([, rule]) => [rule.column, rule.unsaid ?? null] as const);
  return { ...(Object.fromEntries(unsaid) as unknown as TaskRuleColumns), ...saidColumns(record) };
}

/** Returns only the columns of the given values. */
export function saidColumns(record: TaskRules): Partial<TaskRuleColumns> {
  const said = taskRules.flatMap(([name, rule]) => {
    const value = record[name] ?? null;
    return value === null ? [] : [[rule.column, rule.toColumn?.(value) ?? value] as const];
  });
  return Object.fromEntries(said) as Partial<TaskRuleColumns>;
}

/** Converts the fields of a request to columns. The checks refuse unusable values. */
export function givenColumns(
  fields: Readonly<Partial<Record<keyof TaskRuleKinds, GivenKinds[GivenKind]>>>,
  checks: GivenChecks,
): Partial<TaskRuleColumns> {
  const values: Readonly<Partial<Record<string, GivenKinds[GivenKind]>>> = fields;
  const columns = taskRules.flatMap(([name, { keys, column, given }]) => {
    const value = values[keys[0] ?? name];
    return value === undefined ? [] : [[column, given.column(value, checks)] as const];
  });
  return Object.fromEntries(columns) as Partial<TaskRuleColumns>;
}

/** Columns of a task that sets none of these values, apart from the number of attempts. */
export const unsaidColumns = Object.fromEntries(
  taskRules
    .filter(([name]) => name !== 'maxAttempts')
    .map(([, { column, unsaid = null }]) => [column, unsaid] as const),
) as unknown as Omit<TaskRuleColumns, 'max_attempts'>;

/** The columns that a view of a task shows, under their names in records. */
export function viewOfColumns(
  row: Omit<TaskRuleColumns, 'max_attempts'>,
): Readonly<Record<string, unknown>> {
  const columns: Readonly<Partial<Record<string, ColumnValue>>> = { ...row };
  return Object.fromEntries(
    taskRules.flatMap(([name, rule]) => {
      const held = columns[rule.column];
      if (held === undefined) return [];
      const value = held === null ? null : (rule.viewed?.(rule.ofColumn(held)) ?? held);
      return [[rule.keys[0] ?? name, value] as const];
    }),
  );
}

/** A candidate follows its task's rules, except for those about agents and the choice. */
export function columnsOfCandidate(task: TaskRuleColumns): TaskRuleColumns {
  const columns = taskRules.map(([, { column, ofCandidate }]) => [
    column,
    ofCandidate === undefined ? task[column] : ofCandidate,
  ]);
  return Object.fromEntries(columns) as TaskRuleColumns;
}
