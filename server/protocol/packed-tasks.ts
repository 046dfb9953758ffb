// Packs task rows for slow connections. Most fields of most rows have the same value, which is sent
// once. Pure.

import type { TaskView } from './views.ts';

export interface PackedTasks {
  /** The values of fields that a row omits; null without rows. */
  readonly usual: TaskView | null;
  readonly rows: readonly Partial<TaskView>[];
}

/** Every row has every field, so an omitted field always has its usual value. */
export function packTasks(tasks: readonly TaskView[]): PackedTasks {
  const usual = tasks[0] ?? null;
  if (usual === null) return { usual, rows: [] };
  const names = Object.keys(usual) as (keyof TaskView)[];
  const rows = tasks.map((task) => {
    const row: Partial<Record<keyof TaskView, unknown>> = {};
    for (const name of names) {
      if (!isSame(task[name], usual[name])) row[name] = task[name];
    }
    return row as Partial<TaskView>;
  });
  return { usual, rows };
}

export function unpackTasks({ usual, rows }: PackedTasks): readonly TaskView[] {
  return usual === null ? [] : rows.map((row) => ({ ...usual, ...row }));
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  return one.every((item, index) => item === other[index]);
}
