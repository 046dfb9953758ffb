// Checks for changes that an import must not make to running or finished tasks, after the file
// itself was validated.

import type {
  ImportedEpic,
  ImportedTask,
  ImportPlan,
  ImportProblem,
} from '../../core/exchange/import-types.ts';
import type { StoredProject } from './import-existing.ts';

/** Returns the plan without records that must not be written and records that refer to those. */
export function checkAgainstWork(plan: ImportPlan, project: StoredProject): ImportPlan {
  const refused = new Map<string, ImportProblem>();
  for (const task of plan.updatedTasks) {
    const why = whyNotUpdated(task.id, project);
    if (why !== null) refused.set(task.id, problemOf(task, 'differs', why));
  }
  for (const task of [...plan.tasks, ...plan.updatedTasks]) {
    const why = refused.has(task.id) ? null : whyNotBelow(task, project);
    if (why !== null) refused.set(task.id, problemOf(task, 'reference', why));
  }
  if (refused.size === 0) return plan;
  refuseReferrers(plan, refused);
  const isGood = (record: ImportedEpic | ImportedTask): boolean => !refused.has(record.id);
  return {
    ...plan,
    tasks: plan.tasks.filter(isGood),
    updatedTasks: plan.updatedTasks.filter(isGood),
    problems: [...plan.problems, ...refused.values()].toSorted((a, b) => a.line - b.line),
  };
}

function problemOf(
  record: ImportedTask,
  kind: ImportProblem['kind'],
  message: string,
): ImportProblem {
  return { line: record.line, id: record.id, kind, message };
}

function topOf(id: string, project: StoredProject): string {
  let top = id;
  for (let level = 0; level < 4; level += 1) {
    const parent = project.tasks.get(top)?.parentId ?? null;
    if (parent === null) return top;
    top = parent;
  }
  return top;
}

export function whyNotUpdated(id: string, project: StoredProject): string | null {
  const top = topOf(id, project);
  const status = project.statuses.get(top);
  if (status !== 'claimed' && status !== 'in_progress') return null;
  return `\`${top}\` is running; pause it first, then import again`;
}

/**
 * Why a new sub-task cannot be added below its parent: an attempt that has ended or is running
 * would never do it.
 */
function whyNotBelow(task: ImportedTask, project: StoredProject): string | null {
  const { parentId } = task;
  if (parentId === null || project.tasks.get(task.id)?.parentId === parentId) return null;
  const status = project.statuses.get(topOf(parentId, project));
  switch (status) {
    case 'completed':
    case 'cancelled':
      return `\`${parentId}\` is ${status}; it cannot get a sub-task`;
    case 'claimed':
    case 'in_progress':
    case 'needs_review':
      return `\`${parentId}\` is ${status} and would not see a new sub-task; pause it first, then import again`;
    case 'ready':
    case 'blocked':
    case 'paused':
    case 'waiting':
    case 'conflict':
    case 'failed':
    case undefined:
      return null;
  }
}

/** Refuses new records that refer to a refused one. */
function refuseReferrers(plan: ImportPlan, refused: Map<string, ImportProblem>): void {
  const fresh = new Set(plan.tasks.map((task) => task.id));
  for (let changed = true; changed;) {
    changed = false;
    for (const task of [...plan.tasks, ...plan.updatedTasks]) {
      if (refused.has(task.id)) continue;
      const missing = [task.parentId, ...task.blockedBy].find(
        (id) => id !== null && fresh.has(id) && refused.has(id),
      );
      if (missing === undefined || missing === null) continue;
      const line = refused.get(missing)?.line ?? 0;
      refused.set(
        task.id,
        problemOf(task, 'reference-refused', `\`${missing}\` was refused on line ${line}`),
      );
      changed = true;
    }
  }
}
