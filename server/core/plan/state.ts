// The states of a task and the table of allowed changes between them.

/** All states of a task. `waiting`: the agent's account has no quota left; see docs/glossary.md. */
export const taskStatuses = [
  'ready',
  'claimed',
  'in_progress',
  'blocked',
  'paused',
  'waiting',
  'needs_review',
  'conflict',
  'completed',
  'failed',
  'cancelled',
] as const;

export type TaskStatus = (typeof taskStatuses)[number];

/** States in which an owner holds an attempt of the task. */
export const ownedStatuses: ReadonlySet<TaskStatus> = new Set(['claimed', 'in_progress']);

/** A task without attempts can be removed in these states. */
export const removableStatuses: ReadonlySet<TaskStatus> = new Set([
  'ready',
  'blocked',
  'paused',
  'cancelled',
]);

/** States in which a person can run this task alone. */
export const runnableStatuses: readonly TaskStatus[] = ['ready', 'blocked', 'waiting'];

/** States that a task leaves only by a person's action (retry, reset, approve and so on). */
export const terminalStatuses: ReadonlySet<TaskStatus> = new Set([
  'completed',
  'failed',
  'cancelled',
]);

export const unfinishedStatuses: readonly TaskStatus[] = taskStatuses.filter(
  (status) => !terminalStatuses.has(status),
);

/**
 * Allowed changes. A change to `ready` becomes `blocked` if the task has open blockers, so every
 * state that lists `ready` also lists `blocked`.
 */
const legalTargets: { readonly [From in TaskStatus]: readonly TaskStatus[] } = {
  ready: ['blocked', 'claimed', 'paused', 'cancelled'],
  // Choosing a candidate approves its work for the task, which was blocked until the choice.
  blocked: ['ready', 'paused', 'needs_review', 'cancelled'],
  claimed: ['in_progress', 'ready', 'blocked', 'paused', 'cancelled'],
  in_progress: [
    'completed',
    'ready',
    'blocked',
    'failed',
    'waiting',
    'conflict',
    'needs_review',
    'paused',
    'cancelled',
  ],
  waiting: ['in_progress', 'ready', 'blocked', 'paused', 'cancelled'],
  paused: ['ready', 'blocked', 'cancelled'],
  // Approved work can still fail its gate or conflict when it lands.
  needs_review: ['completed', 'ready', 'blocked', 'failed', 'conflict', 'cancelled'],
  // A merge that a person made lands like approved work.
  conflict: ['ready', 'blocked', 'needs_review', 'cancelled'],
  failed: ['ready', 'blocked', 'cancelled'],
  cancelled: ['ready', 'blocked'],
  completed: ['ready', 'blocked'],
};

export function isLegalTransition(from: TaskStatus, to: TaskStatus): boolean {
  return legalTargets[from].includes(to);
}
