// All tasks with their blockers, in one consistent read with a few queries regardless of the number
// of tasks. Tasks are numbered internally, because string keys would be its slowest part.

import type { TaskStatus } from '../../core/plan/state.ts';
import type { TaskView } from '../../protocol/api.ts';
import { machinesOfTasks } from '../fleet/machine-views.ts';
import type { Db } from '../rows/one-moment.ts';
import { forecastViews } from '../plan/forecasts.ts';
import { gateViews } from '../lines/running-gates.ts';
import { type CommonRow, readRunningAttempts, readTaskRows, taskView } from './task-view.ts';
import { allEdges } from '../status/graph-rows.ts';

export interface Board {
  /** In order of creation. A task's index is its number. */
  readonly tasks: readonly TaskView[];
  readonly numbers: ReadonlyMap<string, number>;
  /** For each task, the task that it is scheduled with: itself or its topmost parent. */
  readonly tops: Int32Array;
  /** Unmet blockers by number; undefined if there are none. */
  readonly waits: readonly (readonly number[] | undefined)[];
}

export const nothing: readonly string[] = Object.freeze([]);

export async function readBoard(db: Db): Promise<Board> {
  const taskRows = await readTaskRows(db);
  const rows = taskRows.map((row): CommonRow => row.common);
  const edges = await allEdges(db);
  const running = await readRunningAttempts(db);
  const machines = await machinesOfTasks(db, running);
  const forecasts = await forecastViews(db);
  const gates = await gateViews(db);
  const numbers = new Map<string, number>();
  for (let number = 0; number < rows.length; number += 1) {
    numbers.set((rows[number] as { id: string }).id, number);
  }
  const parents = parentsOf(rows, numbers);
  const tops = topsOf(parents);
  const blockers: (number[] | undefined)[] = Array.from({ length: rows.length });
  const waits: (number[] | undefined)[] = Array.from({ length: rows.length });
  for (const edge of edges) {
    const from = numbers.get(edge.task_id);
    const to = numbers.get(edge.blocked_by);
    if (from === undefined || to === undefined) continue;
    append(blockers, from, to);
    const status: TaskStatus | undefined = rows[to]?.status;
    if (status === 'completed' || tops[from] === tops[to]) continue;
    // A blocker of a sub-task also blocks the task itself.
    for (let at = from; at >= 0; at = parents[at] ?? -1) append(waits, at, to);
  }
  const namesOf = (list: readonly number[] | undefined): readonly string[] =>
    list === undefined ? nothing : list.map((number) => rows[number]?.id ?? '');
  const tasks = taskRows.map((row, number) =>
    taskView(row, {
      blockedBy: namesOf(blockers[number]),
      waitsFor: namesOf(waits[number]),
      attempt: running.size === 0 ? undefined : running.get(row.common.id),
      machine: machines.size === 0 ? undefined : machines.get(row.common.id),
      forecast: forecasts.size === 0 ? undefined : forecasts.get(row.common.id),
      gate: gates.size === 0 ? undefined : gates.get(row.common.id),
    }),
  );
  return { tasks, numbers, tops, waits };
}

function append(lists: (number[] | undefined)[], at: number, item: number): void {
  const list = lists[at];
  if (list === undefined) lists[at] = [item];
  else if (!list.includes(item)) list.push(item);
}

/** The number of each task's parent, or -1. */
function parentsOf(
  rows: readonly { readonly parent_id: string | null }[],
  numbers: ReadonlyMap<string, number>,
): Int32Array {
  const parents = new Int32Array(rows.length).fill(-1);
  for (let number = 0; number < rows.length; number += 1) {
    const parent = rows[number]?.parent_id ?? null;
    if (parent !== null) parents[number] = numbers.get(parent) ?? -1;
  }
  return parents;
}

const levelsMax = 4;

function topsOf(parents: Int32Array): Int32Array {
  const tops = new Int32Array(parents.length);
  for (let number = 0; number < parents.length; number += 1) {
    let at = number;
    for (let level = 0; level < levelsMax && (parents[at] ?? -1) >= 0; level += 1) {
      at = parents[at] as number;
    }
    tops[number] = at;
  }
  return tops;
}
