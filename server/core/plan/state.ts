// The states of a task and the one table of legal changes between them.

/**
 * Every state a task can be in. `waiting`: the agent's account is out of quota; see
 * docs/glossary.md.
 */
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

/** States in which an attempt of the task is held by an owner. */
export const ownedStatuses: ReadonlySet<TaskStatus> = new Set(['claimed', 'in_progress']);

/** A task without an attempt can be removed in these. */
export const removableStatuses: ReadonlySet<TaskStatus> = new Set([
  'ready',
  'blocked',
  'paused',
  'cancelled',
]);

/** States in which a person can ask for a run of this task alone. */
export const runnableStatuses: readonly TaskStatus[] = ['ready', 'blocked', 'waiting'];

/** States that nothing but a person's word (retry, reset, approve, …) leaves. */
export const terminalStatuses: ReadonlySet<TaskStatus> = new Set([
  'completed',
  'failed',
  'cancelled',
]);

export const unfinishedStatuses: readonly TaskStatus[] = taskStatuses.filter(
  (status) => !terminalStatuses.has(status),
);

/**
 * Legal changes. Every change to `ready` means "ready or blocked, whichever the blockers say",
 * so each source of `ready` lists `blocked` as well.
 */
const legalTargets: { readonly [From in TaskStatus]: readonly TaskStatus[] } = {
  ready: ['blocked', 'claimed', 'paused', 'cancelled'],
  // A person's choice of a candidate approves it as the work of the task that waits for it.
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
  // Approved work can still turn out red or in conflict as it lands.
  needs_review: ['completed', 'ready', 'blocked', 'failed', 'conflict', 'cancelled'],
  // A person's own merge lands like approved work.
  conflict: ['ready', 'blocked', 'needs_review', 'cancelled'],
  failed: ['ready', 'blocked', 'cancelled'],
  cancelled: ['ready', 'blocked'],
  completed: ['ready', 'blocked'],
};

export function isLegalTransition(from: TaskStatus, to: TaskStatus): boolean {
  return legalTargets[from].includes(to);
}
