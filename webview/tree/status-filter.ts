// The groups of states by which the tree can be filtered.

import { unfinishedStatuses, type TaskStatus } from '../../server/core/plan/state.ts';

export const statusFilters = {
  all: { title: 'All', statuses: [] },
  open: { title: 'Open', statuses: unfinishedStatuses },
  working: { title: 'Working', statuses: ['claimed', 'in_progress'] },
  /** Not a set of states, because questions count as well. */
  asks: { title: 'Needs you', statuses: [] },
  done: { title: 'Completed', statuses: ['completed'] },
  /** Not a set of states: archived epics with their tasks. */
  archived: { title: 'Archived', statuses: [] },
  failed: { title: 'Failed', statuses: ['failed', 'cancelled'] },
} as const satisfies Readonly<
  Record<string, { readonly title: string; readonly statuses: readonly TaskStatus[] }>
>;

export type StatusFilter = keyof typeof statusFilters;

export function isStatusFilter(value: unknown): value is StatusFilter {
  return typeof value === 'string' && Object.hasOwn(statusFilters, value);
}

export function listFilteredStatuses(filter: StatusFilter): ReadonlySet<TaskStatus> {
  return new Set<TaskStatus>(statusFilters[filter].statuses);
}
