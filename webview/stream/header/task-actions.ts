// The actions that a person can take on a task from its stream, by the task's status. The backend
// checks again; this only determines which actions are offered.

import { byHandPhase } from '../../../server/core/plan/task.ts';
import { runnableStatuses, type TaskStatus } from '../../../server/core/plan/state.ts';
import type { TaskView } from '../../../server/protocol/views.ts';
import type { IconName } from '../../shared/looks/icon.ts';

export const taskActions = [
  'run',
  'pause',
  'resume',
  'cancel',
  'merge',
  'retry',
  'startAnyway',
  'takeOver',
  'giveBack',
  'openWorktree',
  'review',
] as const;
export type TaskAction = (typeof taskActions)[number];

export const actionTexts: { readonly [A in TaskAction]: { label: string; icon: IconName } } = {
  run: { label: 'Run This Task', icon: 'play' },
  pause: { label: 'Pause', icon: 'debug-pause' },
  resume: { label: 'Resume', icon: 'debug-continue' },
  cancel: { label: 'Cancel', icon: 'circle-slash' },
  merge: { label: 'Merge in Editor', icon: 'git-merge' },
  retry: { label: 'Retry', icon: 'debug-restart' },
  startAnyway: { label: 'Start Anyway', icon: 'play' },
  takeOver: { label: 'Take Over', icon: 'person' },
  giveBack: { label: 'Return to Agent', icon: 'reply' },
  openWorktree: { label: 'Open Worktree', icon: 'empty-window' },
  review: { label: 'Review Changes', icon: 'diff-multiple' },
};

const allowed: { readonly [A in TaskAction]: readonly TaskStatus[] } = {
  run: runnableStatuses,
  pause: ['ready', 'blocked', 'claimed', 'in_progress', 'waiting'],
  resume: ['paused'],
  cancel: ['ready', 'blocked', 'claimed', 'in_progress', 'paused', 'waiting', 'needs_review'],
  merge: ['conflict'],
  retry: ['failed', 'cancelled', 'conflict', 'blocked'],
  startAnyway: ['blocked'],
  takeOver: ['in_progress', 'paused'],
  giveBack: ['paused'],
  openWorktree: [
    'claimed',
    'in_progress',
    'paused',
    'conflict',
    'needs_review',
    'failed',
    'waiting',
  ],
  review: ['in_progress', 'needs_review', 'completed', 'conflict'],
};

/** Sub-tasks run inside their parent's attempt: actions apply to the parent. */
export function actionsFor(task: TaskView | null): readonly TaskAction[] {
  if (task === null) return [];
  return taskActions.filter((action) => {
    if (task.parent_id !== null) return action === 'review' && task.commit_sha !== null;
    if (!allowed[action].includes(task.status)) return false;
    // Only its blockers determine when it starts.
    if (action === 'run' && task.blocked_reason !== null) return task.status !== 'blocked';
    if (action === 'retry' && task.status === 'blocked') return task.blocked_reason !== null;
    if (action === 'startAnyway') return task.block?.kind === 'red_base';
    if (action === 'openWorktree') return task.worktree_path !== null;
    if (action === 'giveBack') return task.phase === byHandPhase;
    if (action === 'takeOver') return task.status === 'paused' || task.phase === 'agent';
    if (action === 'review') return task.commit_sha !== null || task.base_sha !== null;
    return true;
  });
}

/** If no agent would get a hint, the reason that the composer shows; null if a hint can be sent. */
export function hintRefusal(task: TaskView | null): string | null {
  if (task === null) return 'Not connected.';
  if (followsUp(task)) return null;
  if (task.status === 'cancelled') return 'This task was cancelled. Retry it to continue.';
  return task.status === 'completed' ? 'Done. A follow-up starts from its parent task.' : null;
}

/** A message about finished work becomes a follow-up task. */
export function followsUp(task: TaskView | null): boolean {
  return task?.status === 'completed' && task.parent_id === null;
}

/** Whether an agent can be asked for a plan before it starts the work. */
export function canPlanFirst(task: TaskView | null): boolean {
  if (task === null || task.parent_id !== null) return false;
  return followsUp(task) || task.status === 'ready' || task.status === 'blocked';
}

/** The label of the send button. */
export function sendLabel(task: TaskView | null): string {
  if (followsUp(task)) return 'Make a Follow-up Task';
  return sendsBack(task) ? 'Send Back' : 'Send';
}

/** During a review, a message to the agent sends its work back. */
export function sendsBack(task: TaskView | null): boolean {
  return task?.status === 'needs_review' && task.parent_id === null;
}

/** What happens to the message once it is sent. */
export function hintFate(task: TaskView | null): string {
  if (followsUp(task)) {
    return 'Adds a task to the same epic and runs it. Its agent continues this conversation if it can, and otherwise starts with what was asked and reported here.';
  }
  if (sendsBack(task)) return 'Sends the work back. The agent changes it in a new attempt.';
  if (task?.status === 'in_progress' && task.phase === 'agent') {
    return 'The agent gets this at its next step. If it takes no messages while it runs, its next attempt starts with it.';
  }
  if (task?.status === 'failed' || task?.status === 'conflict') {
    return 'Kept for the next attempt, which starts when you retry the task.';
  }
  return 'Kept until the agent starts or resumes; it reads this first.';
}

/** The placeholder of the composer's field. */
export function hintPrompt(task: TaskView | null): string {
  if (followsUp(task)) return 'Done. What should come next…';
  if (sendsBack(task)) return 'Send it back to the agent: what should be different…';
  if (task?.status === 'in_progress' && task.phase === 'agent') return 'Tell the agent something…';
  const isYetToStart = task?.status === 'ready' || task?.status === 'blocked';
  return `Tell the agent something for when it ${isYetToStart ? 'starts' : 'resumes'}…`;
}
