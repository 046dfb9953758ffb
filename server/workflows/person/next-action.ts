// The actions that a person can take on a task in each state, for the remedy in a refusal.

import type { TaskStatus } from '../../core/plan/state.ts';

export function nextAction(id: string, status: TaskStatus): string {
  switch (status) {
    case 'ready':
      return 'run "drover run" to start it';
    case 'claimed':
    case 'in_progress':
    case 'waiting':
      return `run "drover pause ${id}" or "drover cancel ${id}" to stop its agent`;
    case 'blocked':
      return `run "drover why ${id}" to see what it waits for`;
    case 'paused':
      return `run "drover resume-task ${id}" to resume it`;
    case 'needs_review':
      return `run "drover approve ${id}" or "drover send-back ${id}" to decide`;
    case 'conflict':
      return `run "drover retry ${id}" or "drover resolve ${id}"`;
    case 'failed':
    case 'cancelled':
      return `run "drover retry ${id}" to start it again`;
    case 'completed':
      return `run "drover reset ${id}" to start it again`;
  }
}
