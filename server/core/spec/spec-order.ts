// Orders a plan for display: a task follows its blockers and is close to the tasks of its epic.

import type { PlannedTask } from './spec-schema.ts';

/** Tasks in a loop come last in their given order; the check reports the loop. */
export function inWorkOrder(tasks: readonly PlannedTask[]): readonly PlannedTask[] {
  const left = new Map(tasks.map((task) => [task.key, task]));
  const ordered: PlannedTask[] = [];
  let epic: string | null = tasks[0]?.epic ?? null;
  while (left.size > 0) {
    const free = [...left.values()].filter((task) => !task.blockedBy.some((key) => left.has(key)));
    const next = free.find((task) => task.epic === epic) ?? free[0];
    if (next === undefined) return [...ordered, ...left.values()];
    ordered.push(next);
    left.delete(next.key);
    epic = next.epic;
  }
  return ordered;
}
