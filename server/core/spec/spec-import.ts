// Converts a plan to import records, so that it enters the project through the same checks as every
// import.

import { newId, randomBytesPerId } from '../ids.ts';
import type { SpecPlan } from './spec-schema.ts';

export type PlanRecord = Readonly<Record<string, unknown>> & { readonly id: string };

/** Returns epics first, then the tasks in order, with ids instead of keys. */
export function planRecords(plan: SpecPlan, idOf: (key: string) => string): readonly PlanRecord[] {
  const epics = plan.epics.map((epic) => ({
    id: idOf(epic.key),
    type: 'epic',
    title: epic.title,
    ...(epic.description === '' ? {} : { description: epic.description }),
  }));
  const tasks = plan.tasks.map((task) => ({
    id: idOf(task.key),
    type: 'story',
    ...(task.epic === null ? {} : { epic_id: idOf(task.epic) }),
    title: task.title,
    ...(task.description === '' ? {} : { description: task.description }),
    acceptance_criteria: task.acceptanceCriteria,
    priority: task.priority,
    ...(task.blockedBy.length === 0 ? {} : { blocked_by: task.blockedBy.map(idOf) }),
    task_type: task.type,
  }));
  return [...epics, ...tasks];
}

/** Formats one record per line. */
export function recordLines(records: readonly PlanRecord[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** Creates new ids for the keys of a checked plan, from random bytes that the caller supplies. */
export function planIds(
  plan: SpecPlan,
  random: (bytes: number) => Uint8Array,
): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const used = new Set<string>();
  const name = (kind: 'epic' | 'task', key: string): void => {
    let id = newId(kind, random(randomBytesPerId));
    while (used.has(id)) id = newId(kind, random(randomBytesPerId));
    used.add(id);
    ids.set(key, id);
  };
  for (const { key } of plan.epics) name('epic', key);
  for (const { key } of plan.tasks) name('task', key);
  return ids;
}
