// What a person can do with a task in each state: the second half of a refusal.

import type { TaskStatus } from '../../core/plan/state.ts';

export function nextAction(id: string, status: TaskStatus): string {
  switch (status) {
    case 'ready':
      return 'drover run starts it';
    case 'claimed':
    case 'in_progress':
    case 'waiting':
      return `drover pause ${id} or drover cancel ${id} ends its agent`;
    case 'blocked':
      return `"drover why ${id}" explains what it waits for`;
    case 'paused':
      return `"drover resume-task ${id}" resumes it`;
    case 'needs_review':
      return `drover approve ${id} or drover send-back ${id} decides`;
    case 'conflict':
      return `run "drover retry ${id}" or "drover resolve ${id}"`;
    case 'failed':
    case 'cancelled':
      return `drover retry ${id} starts it again`;
    case 'completed':
      return `drover reset ${id} starts it again`;
  }
}
