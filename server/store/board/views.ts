// Formats epics, runs and questions for clients, and counts tasks.

import { tasksOfRun } from '../work/runs.ts';
import { isOneOf } from '../../core/one-of.ts';
import { landModes } from '../../core/plan/task.ts';
import { type TaskStatus, taskStatuses } from '../../core/plan/state.ts';
import type { Counts, EpicView, HoldView, QuestionView, RunView } from '../../protocol/api.ts';
import { textList } from '../rows/one-moment.ts';
import type { EpicRow, HoldRow, LineRow, QuestionRow, RunRow } from '../schema/tables.ts';

export type MutableCounts = { total: number } & { [S in TaskStatus]: number };

export function emptyCounts(): MutableCounts {
  const counts = Object.fromEntries(taskStatuses.map((status) => [status, 0]));
  return { total: 0, ...(counts as { [S in TaskStatus]: number }) };
}

export function countTasks(tasks: Iterable<{ readonly status: TaskStatus }>): MutableCounts {
  const counts = emptyCounts();
  for (const { status } of tasks) countOne(counts, status);
  return counts;
}

export function countOne(counts: MutableCounts, status: TaskStatus): void {
  addCount(counts, status, 1);
}

export function addCount(counts: MutableCounts, status: TaskStatus, n: number): void {
  counts.total += n;
  counts[status] += n;
}

/**
 * Percentage (integer) of tasks that are not canceled; 0 without tasks. 100 only if all work is on
 * its target.
 */
export function epicProgress(counts: Counts, isUnlanded: boolean): number {
  const wanted = counts.total - counts.cancelled;
  const most = isUnlanded ? 99 : 100;
  return wanted === 0 ? 0 : Math.min(most, Math.floor((100 * counts.completed) / wanted));
}

export function epicView(row: EpicRow, counts: Counts, isUnlanded: boolean): EpicView {
  return {
    id: row.id,
    title: row.title,
    description: row.description ?? '',
    status: row.status === 'closed' ? 'closed' : 'open',
    counts,
    progress: epicProgress(counts, isUnlanded),
    branch: row.branch,
    landed_sha: row.landed_sha,
    landing_state: landingState(row),
    landing_note: row.landing_note,
    created_at: row.created_at,
  };
}

/** While the gate of an approved epic runs, the epic does not wait for a person. */
function landingState({
  landing_state: state,
  approved_tree: approved,
  review_tree: seen,
}: EpicRow) {
  return state === 'needs_review' && approved !== null && approved === seen ? 'landing' : state;
}

/**
 * `line` is the row of the target's line. If the target could not follow, a branch of Drover has
 * the landed work.
 */
export function runView(row: RunRow, line: LineRow | null): RunView {
  const tasks = tasksOfRun(row);
  const standIn = (line?.pending ?? 0) > 0 ? `drover/results/${row.target_branch}` : null;
  return {
    id: row.id,
    active: row.state === 'active',
    started_at: Math.floor(row.started_at_ms / 1000),
    ended_at: row.ended_at_ms === null ? null : Math.floor(row.ended_at_ms / 1000),
    target_branch: row.target_branch,
    result_branch: standIn ?? row.target_branch,
    base_sha: row.base_sha,
    workers: row.workers,
    epic_id: row.epic_id,
    ...(tasks === null ? {} : { tasks }),
    land: isOneOf(landModes, row.land) ? row.land : 'task',
  };
}

export function questionView(row: QuestionRow): QuestionView {
  return {
    id: row.id,
    task_id: row.task_id,
    attempt: row.attempt,
    request_id: row.request_id,
    kind: row.kind === 'permission' || row.kind === 'review' ? row.kind : 'question',
    text: row.text,
    choices: textList(row.choices),
    state: row.state === 'answered' || row.state === 'withdrawn' ? row.state : 'open',
    answer: row.answer,
    asked_at: Math.floor(row.asked_at_ms / 1000),
  };
}

export function holdView(row: HoldRow): HoldView {
  return {
    scope: row.scope,
    line: null,
    reason: row.reason,
    since: Math.floor(row.since_ms / 1000),
    until: row.until_ms === null ? null : Math.ceil(row.until_ms / 1000),
  };
}
