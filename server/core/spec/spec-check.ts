// Converts a model's answer to a plan, or to one sentence about its fault, which first the model
// and then the user gets.

import { checkId } from '../ids.ts';
import { parseImport } from '../exchange/import-jsonl.ts';
import { describeValue, shown } from '../exchange/shown-values.ts';
import { err, ok, type Result } from '../failure.ts';
import { planRecords, recordLines } from './spec-import.ts';
import {
  planBounds,
  planPriorities,
  type PlannedEpic,
  type PlannedTask,
  type PlanPriority,
  type SpecPlan,
} from './spec-schema.ts';
import { inWorkOrder } from './spec-order.ts';
import { taskTypes, type TaskType } from '../plan/task.ts';
import type { JsonObject } from '../exchange/json-object.ts';
import { emptyProject } from '../exchange/import-types.ts';

export interface PlanOptions {
  /** Whether all tasks must belong to one epic. */
  readonly oneEpic: boolean;
}

/** Thrown and caught only in this file, to stop at the first fault. */
class PlanFault extends Error {}

export function checkPlan(answer: unknown, options: PlanOptions): Result<SpecPlan, string> {
  try {
    return ok(readPlan(answer, options));
  } catch (error) {
    if (error instanceof PlanFault) return err(error.message);
    throw error;
  }
}

function readPlan(answer: unknown, options: PlanOptions): SpecPlan {
  const record = objectOf(answer, 'the answer');
  const epics = listOf(record, 'epics', 'the answer', planBounds.epics).map(readEpic);
  const tasks = listOf(record, 'tasks', 'the answer', planBounds.tasks).map(readTask);
  if (tasks.length === 0) throw new PlanFault('`tasks` is empty; a plan has at least one task');
  checkKeys([...epics, ...tasks]);
  checkEpics(epics, tasks, options);
  const plan = { epics, tasks: inWorkOrder(tasks) };
  checkAsImport(plan);
  return plan;
}

function readEpic(value: unknown, index: number): PlannedEpic {
  const record = objectOf(value, `epic ${index + 1}`);
  const key = keyOf(record, `epic ${index + 1}`);
  const place = `epic ${shown(key)}`;
  return {
    key,
    title: titleOf(record, place),
    description: textOf(record, 'description', place, planBounds.textCharacters),
  };
}

function readTask(value: unknown, index: number): PlannedTask {
  const record = objectOf(value, `task ${index + 1}`);
  const key = keyOf(record, `task ${index + 1}`);
  const place = `task ${shown(key)}`;
  const acceptanceCriteria = textsOf(record, 'acceptance_criteria', place, planBounds.criteria);
  if (acceptanceCriteria.length === 0) {
    throw new PlanFault(`${place} has no \`acceptance_criteria\`; add at least one`);
  }
  const epic = textOf(record, 'epic', place, planBounds.titleCharacters);
  return {
    key,
    epic: epic === '' ? null : epic,
    title: titleOf(record, place),
    description: textOf(record, 'description', place, planBounds.textCharacters),
    type: choiceOf<TaskType>(record, 'type', place, taskTypes, 'feature'),
    priority: choiceOf<PlanPriority>(record, 'priority', place, planPriorities, 'normal'),
    blockedBy: [...new Set(textsOf(record, 'blocked_by', place, planBounds.blockers))],
    acceptanceCriteria,
  };
}

function checkKeys(planned: readonly { readonly key: string }[]): void {
  const seen = new Set<string>();
  for (const { key } of planned) {
    if (seen.has(key)) throw new PlanFault(`the key ${shown(key)} is used twice`);
    seen.add(key);
  }
}

function checkEpics(
  epics: readonly PlannedEpic[],
  tasks: readonly PlannedTask[],
  { oneEpic }: PlanOptions,
): void {
  if (!oneEpic) {
    const used = new Set(tasks.map((task) => task.epic));
    const empty = epics.find((epic) => !used.has(epic.key));
    if (empty !== undefined) throw new PlanFault(`the epic ${shown(empty.key)} has no task`);
    return;
  }
  if (epics.length !== 1) {
    throw new PlanFault(`the plan has ${epics.length} epics; exactly one was asked for`);
  }
  const outside = tasks.find((task) => task.epic === null);
  if (outside === undefined) return;
  throw new PlanFault(`task ${shown(outside.key)} has no \`epic\`; all belong to the one epic`);
}

/**
 * Catches faults early that the later import of the plan would also refuse. Uses keys instead of
 * ids.
 */
function checkAsImport(plan: SpecPlan): void {
  const records = planRecords(plan, (key) => key);
  const [problem] = parseImport(recordLines(records), emptyProject).problems;
  if (problem === undefined) return;
  const message = problem.message.replace(' in the file or in the project', ' in the plan');
  const place = problem.id === null ? 'the plan' : `${shown(problem.id)}`;
  throw new PlanFault(
    problem.kind === 'loop'
      ? `${place} waits for itself in the end: ${message}`
      : `${place}: ${message}`,
  );
}

function objectOf(value: unknown, place: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as JsonObject;
  }
  throw new PlanFault(`${place} is ${describeValue(value)}; use an object`);
}

function listOf(record: JsonObject, key: string, place: string, max: number): readonly unknown[] {
  const value = record[key];
  if (!Array.isArray(value)) {
    throw new PlanFault(`\`${key}\` of ${place} is ${describeValue(value)}; use a list`);
  }
  if (value.length <= max) return value as readonly unknown[];
  throw new PlanFault(
    `\`${key}\` of ${place} has ${value.length} entries; at most ${max} are allowed`,
  );
}

function keyOf(record: JsonObject, place: string): string {
  const key = textOf(record, 'key', place, planBounds.titleCharacters);
  const allowed = checkId(key);
  if (allowed.ok) return key;
  throw new PlanFault(`the key ${shown(key)} of ${place} ${allowed.reason}`);
}

function titleOf(record: JsonObject, place: string): string {
  const title = textOf(record, 'title', place, planBounds.titleCharacters);
  if (title === '') throw new PlanFault(`\`title\` of ${place} is missing or blank`);
  return title;
}

/** Returns the trimmed text, or an empty text if it is absent. */
function textOf(record: JsonObject, key: string, place: string, max: number): string {
  const value = record[key] ?? '';
  if (typeof value !== 'string') {
    throw new PlanFault(`\`${key}\` of ${place} is ${describeValue(value)}; use a string`);
  }
  return boundedText(value, key, place, max);
}

function textsOf(record: JsonObject, key: string, place: string, max: number): string[] {
  if (record[key] === undefined || record[key] === null) return [];
  return listOf(record, key, place, max)
    .map((value) => {
      if (typeof value === 'string') {
        return boundedText(value, key, place, planBounds.textCharacters);
      }
      throw new PlanFault(`\`${key}\` of ${place} holds ${describeValue(value)}; use strings`);
    })
    .filter((text) => text !== '');
}

function boundedText(value: string, key: string, place: string, max: number): string {
  if (value.length <= max) return value.trim();
  const length = value.length;
  throw new PlanFault(
    `\`${key}\` of ${place} has ${length} characters; at most ${max} are allowed`,
  );
}

function choiceOf<T extends string>(
  record: JsonObject,
  key: string,
  place: string,
  choices: readonly T[],
  absent: T,
): T {
  const value = record[key] ?? absent;
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  const what = typeof value === 'string' ? shown(value) : describeValue(value);
  throw new PlanFault(`\`${key}\` of ${place} is ${what}; use one of ${choices.join(', ')}`);
}
