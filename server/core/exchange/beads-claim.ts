// What Drover writes to a Beads file about its own work: which issues its agents have, and what
// closed them.

import type { TaskStatus } from '../plan/state.ts';
import type { Task } from '../plan/task.ts';
import type { JsonObject } from './json-object.ts';

/**
 * The assignee of an issue that an agent of ours works on, and the label if it is assigned to a
 * person.
 */
export const beadsClaim = { assignee: 'drover', label: 'drover:in_progress' } as const;

/**
 * The issue is in progress in Drover. That holds nothing, and the claim is released when the
 * attempt ends.
 */
export function isOwnClaim({ status, assignee, labels }: JsonObject): boolean {
  const list = Array.isArray(labels) ? (labels as readonly unknown[]) : [];
  const isLabelled = list.some((label) => typeof label === 'string' && label.startsWith('drover:'));
  return status === 'in_progress' && (assignee === beadsClaim.assignee || isLabelled);
}

/** Says no more than that an issue is closed. */
const plainReason = /^(?:closed|completed|done)?\.?$/iu;
const landedWords = /^Landed as [\da-f]+(?:: )?/u;

/**
 * What a landing writes as the reason for closing, before the words of the person or the agent that
 * closed the issue earlier; null: it has not landed.
 */
export function landedReason(
  { status, landedSha }: Pick<Task, 'status' | 'landedSha'>,
  before: unknown,
): string | null {
  if (status !== 'completed' || landedSha === null) return null;
  const said = typeof before === 'string' ? before.replace(landedWords, '').trim() : '';
  const landed = `Landed as ${landedSha}`;
  return plainReason.test(said) ? landed : `${landed}: ${said}`;
}

const runningStatuses: ReadonlySet<string> = new Set(['claimed', 'in_progress', 'waiting']);

export function isRunning(status: TaskStatus): boolean {
  return runningStatuses.has(status);
}

/**
 * While an agent works the issue is ours; a person to whom it is assigned keeps it, and a label
 * says whose claim it is.
 */
export function claimOf(
  status: TaskStatus,
  labels: readonly string[],
  before: JsonObject,
): JsonObject {
  const { assignee } = before;
  const isClaimed = isRunning(status);
  const hasPerson = typeof assignee === 'string' && !['', beadsClaim.assignee].includes(assignee);
  const own = hasPerson ? {} : { assignee: isClaimed ? beadsClaim.assignee : '' };
  return {
    labels: hasPerson && isClaimed ? [...labels, beadsClaim.label] : labels,
    ...(assignee === undefined && !isClaimed ? {} : own),
  };
}
