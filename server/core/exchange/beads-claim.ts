// Drover's marks in a Beads file: the issues that its agents work on, the landing that closed an
// issue, and labels for states that bd does not have.

import { splitLabels, statusFromBeads, type BeadsShape, type BeadsStatus } from './beads-format.ts';
import type { TaskStatus } from '../plan/state.ts';
import type { Task } from '../plan/task.ts';
import type { JsonObject } from './json-object.ts';

/**
 * The assignee of an issue that one of Drover's agents works on. If the issue is assigned to a
 * person, the label is used instead.
 */
export const beadsClaim = { assignee: 'drover', label: 'drover:in_progress' } as const;

/**
 * Whether Drover marked the issue as in progress. Such a mark does not hold the issue, and is
 * removed when the attempt ends.
 */
export function isOwnClaim({ status, assignee, labels }: JsonObject): boolean {
  const list = Array.isArray(labels) ? (labels as readonly unknown[]) : [];
  const isLabelled = list.some((label) => typeof label === 'string' && label.startsWith('drover:'));
  return status === 'in_progress' && (assignee === beadsClaim.assignee || isLabelled);
}

/** Matches a reason that adds nothing to the closed state. */
const plainReason = /^(?:closed|completed|done)?\.?$/iu;
const landedWords = /^Landed as [\da-f]+(?:: )?/u;

/**
 * The reason that a landing writes when it closes an issue, followed by the reason of an earlier
 * close. Returns null if the task has not landed.
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
 * While an agent works on the issue, Drover is its assignee. If it is assigned to a person, the
 * assignee stays and a label marks Drover's claim.
 */
export function beadsClaimFields(
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

/**
 * Whether the line already expresses our state, for example as `deferred` or as `closed` because of
 * a duplicate.
 */
export function toldAlready(
  shape: BeadsShape,
  before: JsonObject,
  task: Task,
  outside: boolean,
): boolean {
  if (before['status'] === undefined) return false;
  const { state } = splitLabels(labelList(before));
  const reason = before['close_reason'] ?? before['reason'];
  const told = statusFromBeads(shape, before['status'], reason, state);
  const ours = task.status === 'blocked' && !outside ? 'ready' : task.status;
  // Our claim set "in progress", so we release it.
  return told === ours && !(ours === 'ready' && isOwnClaim(before));
}

const unlabelled: readonly unknown[] = ['closed', 'deferred', 'blocked'];

/** The label counts only if the status itself does not decide the state. */
export function toldStatus(before: JsonObject): BeadsStatus {
  const { status } = before;
  const { state } = splitLabels(labelList(before));
  const label = state === null || unlabelled.includes(status) ? null : `drover:${state}`;
  return { status: String(status), label, reason: status === 'closed' ? 'completed' : null };
}

/**
 * Keeps a claim that a person made in the other tool. An issue with the label of a state that
 * requires a person stays deferred.
 */
export function keptStatus(
  before: JsonObject,
  { status, label }: Pick<BeadsStatus, 'status' | 'label'>,
): unknown {
  if (before['status'] === 'deferred' && label !== null && label !== 'drover:waiting')
    return 'deferred';
  const isTheirs = before['status'] === 'in_progress' && !isOwnClaim(before);
  return status === 'open' && isTheirs ? 'in_progress' : status;
}

interface Times {
  readonly timeText: (ms: number) => string;
  readonly timeOf: (text: string) => number | null;
}

/**
 * Closes the issue of a task or an epic that was removed from the plan. Returns null if it is
 * already closed.
 */
export function closedRecord(before: JsonObject, times: Times): JsonObject | null {
  if (before['status'] === 'closed' || before['status'] === 'tombstone') return null;
  const updated = before['updated_at'];
  // Must be later than the existing time, or bd ignores the change.
  const atMs = typeof updated === 'string' ? (times.timeOf(updated) ?? 0) + 1 : 0;
  const at = times.timeText(atMs);
  const { labels } = splitLabels(labelList(before));
  const end = { closed_at: at, close_reason: 'cancelled', updated_at: at };
  return { ...before, status: 'closed', labels, ...end };
}

function labelList(line: JsonObject): readonly string[] {
  const labels = Array.isArray(line['labels']) ? (line['labels'] as readonly unknown[]) : [];
  return labels.filter((label) => typeof label === 'string');
}
