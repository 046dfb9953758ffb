// The requested scope of a run, and the active run that covers it or can be extended to it.

import { Refusal } from '../../core/failure.ts';
import {
  activeRunsIn,
  epicsOfTasks,
  type RunRow,
  taskOrRefuse,
  tasksOfRun,
  withBlockers,
} from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

export interface AskedScope {
  readonly epicId: string | null;
  /** Only these tasks and the tasks they wait for; null = all tasks. */
  readonly tasks: readonly string[] | null;
}

/**
 * Single tasks of one epic land with the epic. Tasks of several epics, or of none, land one by one.
 */
export async function askedScope(
  engine: Uses<'store'>,
  {
    epic,
    tasks,
  }: { readonly epic?: string | undefined; readonly tasks?: readonly string[] | undefined },
): Promise<AskedScope> {
  if (tasks === undefined) return { epicId: epic ?? null, tasks: null };
  if (epic !== undefined) {
    throw new Refusal('bad_request', 'A run is about an epic or about single tasks, not both.');
  }
  if (tasks.length === 0) throw new Refusal('bad_request', 'Name at least one task to run.');
  const { db } = engine.store;
  for (const id of tasks) {
    const { parent_id: parent, status } = await taskOrRefuse(db, id);
    if (parent !== null) {
      throw new Refusal(
        'bad_state',
        `Task ${id} is a sub-task and runs with its task. Run ${parent} instead.`,
      );
    }
    if (status === 'completed' || status === 'cancelled') {
      throw new Refusal('bad_state', `Task ${id} is ${status}, so there is nothing to run.`);
    }
  }
  const all = await withBlockers(db, tasks);
  const epics = await epicsOfTasks(db, all);
  return { epicId: epics.length === 1 ? (epics[0] ?? null) : null, tasks: all };
}

/** The active run that covers the scope or can be extended to it; null if there is none. */
export async function coveringRun(
  engine: Uses<'store'>,
  asked: AskedScope,
): Promise<RunRow | null> {
  return covers(await activeRunsIn(engine.store.db), asked);
}

export function covers(active: readonly RunRow[], { epicId }: AskedScope): RunRow | null {
  const whole = active.filter((row) => tasksOfRun(row) === null);
  // A run of all tasks leaves an epic's tasks to the epic's own run.
  const own = whole.find((row) => row.epic_id === epicId);
  return (
    own ??
    whole.find((row) => row.epic_id === null) ??
    active.find((row) => row.epic_id === epicId) ??
    null
  );
}

export function isCovered(row: RunRow, { tasks }: AskedScope): boolean {
  const own = tasksOfRun(row);
  return own === null || (tasks !== null && tasks.every((id) => own.includes(id)));
}
