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

/** What a landing writes as the reason for closing; null: it has not landed. */
export function landedReason({
  status,
  landedSha,
}: Pick<Task, 'status' | 'landedSha'>): string | null {
  return status === 'completed' && landedSha !== null ? `Landed as ${landedSha}` : null;
}

const runningStatuses: ReadonlySet<string> = new Set(['claimed', 'in_progress', 'waiting']);

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
  const isRunning = runningStatuses.has(status);
  const hasPerson = typeof assignee === 'string' && !['', beadsClaim.assignee].includes(assignee);
  const own = hasPerson ? {} : { assignee: isRunning ? beadsClaim.assignee : '' };
  return {
    labels: hasPerson && isRunning ? [...labels, beadsClaim.label] : labels,
    ...(assignee === undefined && !isRunning ? {} : own),
  };
}
