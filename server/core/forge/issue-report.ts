// Writes the one comment that an imported issue gets: the state of its work, only in Drover's own
// words. Text by agents or strangers is never sent back to the issue.

import type { TaskStatus } from '../plan/state.ts';

export interface ReportPull {
  readonly number: number;
  readonly state: 'open' | 'merged' | 'closed' | 'stopped';
}

/** `sha` is null if the work changed nothing. */
export interface Landed {
  readonly sha: string | null;
  readonly branch: string;
}

export type IssueWork =
  | {
      readonly kind: 'task';
      readonly id: string;
      readonly status: TaskStatus;
      readonly attempts: number;
      /** Null until the work is on its target branch. */
      readonly landed: Landed | null;
      readonly pull: ReportPull | null;
    }
  | {
      readonly kind: 'epic';
      readonly id: string;
      readonly done: number;
      readonly total: number;
      /** Whether any of its tasks has started. */
      readonly isBegun: boolean;
      readonly landed: Landed | null;
      readonly pull: ReportPull | null;
    };

export interface IssueReport {
  readonly text: string;
  /** Whether the work is on its target branch. */
  readonly isOver: boolean;
}

/** Hidden in the comment, so that Drover finds the comment and edits it. */
export const reportMarker = '<!-- drover:report -->';

/** Returns null if nothing needs to be reported. A planned task alone is not worth a comment. */
export function reportOf(work: IssueWork): IssueReport | null {
  const news = work.kind === 'task' ? newsOfTask(work) : newsOfEpic(work);
  if (news === null) return null;
  const text = `**Drover** · \`${work.id}\`\n\n${news}\n\n${reportMarker}`;
  return { text, isOver: work.landed !== null };
}

function newsOfTask(work: Extract<IssueWork, { readonly kind: 'task' }>): string | null {
  switch (work.status) {
    case 'ready':
    case 'blocked':
    case 'paused':
      return work.attempts === 0 ? null : 'It waits for its next attempt.';
    case 'claimed':
    case 'in_progress':
    case 'waiting':
      return 'An agent works on it.';
    case 'needs_review':
      return 'The work is done and waits for the review of a person.';
    case 'conflict':
    case 'failed':
      return 'The work has stopped, and a person must check it.';
    case 'cancelled':
      return work.attempts === 0 ? null : 'The task was cancelled.';
    case 'completed':
      return landedWords(work) ?? `The work is done.${pullWords(work.pull)}`;
  }
}

function newsOfEpic(work: Extract<IssueWork, { readonly kind: 'epic' }>): string | null {
  const landed = landedWords(work);
  if (landed !== null) return landed;
  if (!work.isBegun) return null;
  const { done, total, pull } = work;
  return `${done} of ${total} ${total === 1 ? 'task is' : 'tasks are'} done.${pullWords(pull)}`;
}

function landedWords({ landed, pull }: Pick<IssueWork, 'landed' | 'pull'>): string | null {
  if (landed === null) return null;
  if (pull?.state === 'merged') return `Merged by #${pull.number}.`;
  if (landed.sha === null) return 'Done: no change was needed.';
  return `Landed on \`${landed.branch.replaceAll('`', "'")}\` as ${landed.sha}.`;
}

function pullWords(pull: ReportPull | null): string {
  return pull?.state === 'open' ? ` It waits for #${pull.number} to be merged.` : '';
}
