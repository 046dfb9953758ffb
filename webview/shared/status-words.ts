// How every webview shows each task state: its icon, its text, and the theme color of both.

import type { TaskStatus } from '../../server/core/plan/state.ts';
import { byHandPhase } from '../../server/core/plan/task.ts';
import type { TaskView } from '../../server/protocol/views.ts';
import type { IconName } from './looks/icon.ts';
import { visibleLine } from './looks/visible-text.ts';

export interface StatusLook {
  readonly icon: IconName;
  readonly words: string;
  /** A class of `status-styles.ts`. */
  readonly tone: 'quiet' | 'busy' | 'good' | 'bad' | 'asks';
}

export const statusLooks: { readonly [S in TaskStatus]: StatusLook } = {
  ready: { icon: 'circle', words: 'ready', tone: 'quiet' },
  claimed: { icon: 'sync', words: 'starting', tone: 'busy' },
  in_progress: { icon: 'sync', words: 'working', tone: 'busy' },
  blocked: { icon: 'lock', words: 'blocked', tone: 'quiet' },
  paused: { icon: 'debug-pause', words: 'paused', tone: 'quiet' },
  waiting: { icon: 'watch', words: 'waits for its account', tone: 'quiet' },
  needs_review: { icon: 'eye', words: 'needs your review', tone: 'asks' },
  conflict: { icon: 'git-merge', words: 'in conflict', tone: 'asks' },
  completed: { icon: 'pass-filled', words: 'completed', tone: 'good' },
  failed: { icon: 'error', words: 'failed', tone: 'bad' },
  cancelled: { icon: 'circle-slash', words: 'cancelled', tone: 'quiet' },
};

const byHand: StatusLook = { icon: 'person', words: 'taken over', tone: 'quiet' };
const asks: StatusLook = { icon: 'question', words: 'asks you', tone: 'asks' };
const blockedOutside: StatusLook = {
  icon: 'lock',
  words: 'blocked, needs you',
  tone: 'asks',
};

/** A candidate that passed its gate. */
const green: StatusLook = { icon: 'check', words: 'green', tone: 'good' };

type Stated = Pick<TaskView, 'status' | 'phase' | 'blocked_reason' | 'block' | 'review_kind'>;

/** `isAsking`: the agent has asked a question and waits for the answer. */
export function statusLook(
  { status, phase, blocked_reason, block, review_kind }: Stated,
  isAsking = false,
): StatusLook {
  if (status === 'needs_review' && review_kind === 'candidate') return green;
  if (isAsking && (status === 'in_progress' || status === 'claimed')) return asks;
  // Its candidates are done, and one must be chosen.
  if (isAsking && status === 'blocked' && blocked_reason === null) return asks;
  if (status === 'blocked' && blocked_reason !== null) {
    if (block?.kind !== 'red_base') return blockedOutside;
    return { ...blockedOutside, words: `blocked: ${visibleLine(block.on)} fails its gate` };
  }
  return status === 'paused' && phase === byHandPhase ? byHand : statusLooks[status];
}

/** The running step, if there is one, otherwise the state. */
export function statusWords(task: Stated, isAsking = false): string {
  const look = statusLook(task, isAsking);
  if (look !== asks && task.status === 'in_progress' && task.phase !== null) return task.phase;
  return look.words;
}

/** Its agent runs on a remote worker: shown while the attempt runs. */
export function runsOnWorker(task: Pick<TaskView, 'status' | 'runs_on'>): boolean {
  const isBusy = task.status === 'in_progress' || task.status === 'claimed';
  return isBusy && task.runs_on === 'remote';
}
