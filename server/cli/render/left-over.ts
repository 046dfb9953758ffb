// Lists what a run leaves for the user: each task that failed or waits, the reason, and the command
// to continue.

import type { TaskView } from '../../protocol/api.ts';
import { plainLine } from '../plain-text.ts';

const tasksMax = 10;
const reasonMax = 240;

function nextCommand(task: TaskView): string | null {
  const { id } = task;
  switch (task.status) {
    case 'failed':
      return `drover retry ${id}`;
    case 'conflict':
      return `drover retry ${id} --force`;
    case 'needs_review':
      return `drover diff ${id}, drover approve ${id}`;
    case 'paused':
      return `drover resume-task ${id}`;
    case 'blocked':
      return task.blocked_reason === null ? null : `drover why ${id}`;
    case 'ready':
    case 'claimed':
    case 'in_progress':
    case 'waiting':
    case 'completed':
    case 'cancelled':
      return null;
  }
}

/** One line per task. Omits tasks that only wait for another task. */
export function formatUnfinished(tasks: readonly TaskView[]): readonly string[] {
  const lines = tasks
    .filter((task) => task.parent_id === null)
    .flatMap((task) => {
      const next = nextCommand(task);
      if (next === null) return [];
      const words = plainLine(task.blocked_reason ?? task.last_error ?? task.title);
      const reason = words.length > reasonMax ? `${words.slice(0, reasonMax)}…` : words;
      return [`${task.status.replace('_', ' ')}  ${task.id}  ${reason}\n    next: ${next}`];
    });
  const more = lines.length - tasksMax;
  return more > 0
    ? [...lines.slice(0, tasksMax), `… and ${more} more: drover status --tree`]
    : lines;
}
