// Lists the tables whose earlier states are recorded: those that `status` and `why` read.

import type { StoreTables } from './tables.ts';

export interface PastKept {
  readonly table: keyof StoreTables;
  readonly key: readonly string[];
}

export const pastTables: readonly PastKept[] = [
  { table: 'epics', key: ['id'] },
  { table: 'tasks', key: ['id'] },
  { table: 'task_dependencies', key: ['task_id', 'blocked_by'] },
  { table: 'attempts', key: ['task_id', 'number'] },
  { table: 'questions', key: ['id'] },
  { table: 'runs', key: ['id'] },
  { table: 'lines', key: ['branch'] },
  { table: 'landings', key: ['position'] },
  { table: 'accounts', key: ['name'] },
  { table: 'holds', key: ['scope'] },
  { table: 'task_plans', key: ['task_id', 'number'] },
  { table: 'slots', key: ['machine', 'path'] },
];

/** Columns that change every few seconds while an agent runs and are never displayed. */
export const pastlessColumns: readonly string[] = [
  'usage_by_part',
  'pid',
  'pid_start',
  'pid_part',
  'last_used_at',
];

/** Tables whose rows have a creation order. */
export const numberedTables: ReadonlySet<keyof StoreTables> = new Set(['tasks', 'runs']);
