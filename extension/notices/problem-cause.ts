// Determines how long the problems that a gate or setup reported still apply to a task. Pure.

import type { TaskView } from '../../server/protocol/views.ts';

/**
 * The state that the problems explain; they are removed once the task changes state. Returns null
 * if the task is finished or removed.
 */
export function problemCause(task: TaskView | null): string | null {
  if (task === null) return null;
  switch (task.status) {
    case 'completed':
    case 'cancelled':
      return null;
    case 'ready':
    case 'claimed':
    case 'in_progress':
    case 'blocked':
    case 'paused':
    case 'waiting':
    case 'needs_review':
    case 'conflict':
    case 'failed':
      return `${task.status} ${task.attempts}`;
  }
}
