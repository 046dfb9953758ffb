// Finds the tasks affected by events: those that events name, and those whose view depends on them.

import type { TaskStatus } from '../../core/plan/state.ts';
import type { NearTasks } from '../rows/near-tasks.ts';

/** The fields of an event that matter here. */
export interface FeedNote {
  readonly type: string;
  readonly taskId: string | null;
  readonly epicId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Touched {
  readonly tasks: ReadonlySet<string>;
  /** An epic or its counts may have changed. */
  readonly epics: boolean;
  /** Edges, parents or the set of tasks have changed. */
  readonly shape: boolean;
  /** Settings may have been reloaded. */
  readonly settings: boolean;
  /** All tasks were renumbered. */
  readonly renumbered: boolean;
  /** Statuses that tasks have left. */
  readonly left: ReadonlySet<TaskStatus>;
}

const shapeTypes: ReadonlySet<string> = new Set([
  'task.created',
  'task.edited',
  'task.moved',
  'task.removed',
]);

export async function findTouched(near: NearTasks, notes: readonly FeedNote[]): Promise<Touched> {
  const tasks = new Set<string>();
  const left = new Set<TaskStatus>();
  /** Tasks that were completed or reopened. Their dependents now wait for other tasks. */
  const turned = new Set<string>();
  /** Tasks whose sub-tasks, and the dependents of those, may have different relatives now. */
  const reshaped = new Set<string>();
  let epics = false;
  let shape = false;
  let settings = false;
  let renumbered = false;
  for (const { type, taskId, epicId, data } of notes) {
    for (const id of idsIn(data['tasks'])) tasks.add(id);
    if (type.startsWith('epic.')) epics = true;
    if (type === 'tasks.renumbered') renumbered = true;
    if (type === 'run.started' || type === 'run.resumed') {
      settings = true;
      if (epicId !== null) epics = true;
    }
    if (taskId === null) continue;
    tasks.add(taskId);
    const { from, status } = data as { from?: TaskStatus; status?: TaskStatus };
    if (from !== undefined) left.add(from);
    if (from === 'completed' || status === 'completed') turned.add(taskId);
    if (status !== undefined || shapeTypes.has(type)) epics = true;
    if (!shapeTypes.has(type)) continue;
    shape = true;
    for (const id of idsIn([data['parent'], data['from_parent']])) tasks.add(id);
    if (type !== 'task.created') reshaped.add(taskId);
  }
  for (const family of (await near.families(reshaped)).values()) {
    for (const id of family) {
      turned.add(id);
      tasks.add(id);
    }
  }
  for (const edge of await near.edgesTo(turned)) tasks.add(edge.task_id);
  await near.readLines(tasks);
  // Parents that are added during the loop are visited too, but their ancestors are already
  // included.
  for (const id of tasks) for (const above of near.lineOf(id)) tasks.add(above);
  return { tasks, epics, shape, settings, renumbered, left };
}

function idsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
