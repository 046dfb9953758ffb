// Formats task counts for people, in the same way in every view. Pure.

import {
  countCompleted,
  type CountedTask,
  isCounted,
  countOpen,
  type OutcomeCounts,
  countWanted,
} from './outcome.ts';
import type { TaskStatus } from './state.ts';

export interface OutcomePlace {
  /** The target's name. Null if the reader does not know it or did not request it. */
  readonly branch: string | null;
  /** The landed commit, shortened for display. */
  readonly sha: string | null;
}

const nowhere: OutcomePlace = { branch: null, sha: null };

/**
 * `6 of 8 done (not on main yet)`, `1 failed`, `1 waits for you`. Together they cover all tasks.
 */
export function outcomeParts(
  counts: OutcomeCounts,
  place: OutcomePlace = nowhere,
): readonly string[] {
  const { failed, waits, running, cancelled } = counts;
  const open = countOpen(counts);
  return [
    ...completedParts(counts, place),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(waits > 0 ? [waitsForYou(waits)] : []),
    ...(running > 0 ? [`${running} running`] : []),
    ...(open > 0 ? [`${open} open`] : []),
    ...(cancelled > 0 ? [`${cancelled} canceled`] : []),
  ];
}

export function outcomeText(counts: OutcomeCounts, place: OutcomePlace = nowhere): string {
  return outcomeParts(counts, place).join(' · ');
}

export function waitsForYou(count: number): string {
  return `${count} ${count === 1 ? 'waits' : 'wait'} for you`;
}

/** Shown for an epic without tasks. */
export const noShare = 'empty';

/** `5/8`: completed tasks out of all tasks that are not canceled. */
export function completedShare(counts: OutcomeCounts): string {
  return countWanted(counts) === 0 ? noShare : `${countCompleted(counts)}/${countWanted(counts)}`;
}

/** 100 only when everything is on its target. 0 if no tasks exist. */
export function outcomePercent(counts: OutcomeCounts): number {
  const wanted = countWanted(counts);
  const most = counts.done > 0 ? 99 : 100;
  return wanted === 0 ? 0 : Math.min(most, Math.floor((100 * countCompleted(counts)) / wanted));
}

/**
 * `X running, Y queued, Z completed, W blocked, F failed, C cancelled`, plus any other states that
 * occur.
 */
export function countsLine(tasks: readonly CountedTask[]): string {
  const states = new Map<TaskStatus, number>();
  for (const task of tasks) {
    if (isCounted(task)) states.set(task.status, (states.get(task.status) ?? 0) + 1);
  }
  const count = (status: TaskStatus): number => states.get(status) ?? 0;
  const parts = [
    `${count('claimed') + count('in_progress')} running`,
    `${count('ready')} queued`,
    `${count('completed')} completed`,
    `${count('blocked')} blocked`,
    `${count('failed')} failed`,
    `${count('cancelled')} cancelled`,
  ];
  const others = [
    [count('paused'), 'paused'],
    [count('waiting'), 'waiting for quota'],
    [count('needs_review'), 'to review'],
    [count('conflict'), 'in conflict'],
  ] as const;
  for (const [number, word] of others) if (number > 0) parts.push(`${number} ${word}`);
  return parts.join(', ');
}

function completedParts(counts: OutcomeCounts, { branch, sha }: OutcomePlace): readonly string[] {
  const { landed, done } = counts;
  const wanted = countWanted(counts);
  const notYet = `not on ${branch ?? 'the target'} yet`;
  if (landed === 0 && done === 0) return ['nothing landed'];
  const share = (count: number): string =>
    count === wanted ? `${count}` : `${count} of ${wanted}`;
  if (landed === 0) return [`${share(done)} done (${notYet})`];
  const where = branch === null ? '' : ` on ${branch}`;
  const as = sha === null ? '' : ` (${sha})`;
  return [
    `${share(landed)} landed${where}${as}`,
    ...(done > 0 ? [`${done} done (${notYet})`] : []),
  ];
}
