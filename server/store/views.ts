// Rows in the shape that clients see: seconds for times, lists for JSON texts, null for what is absent.

import { type TaskStatus, taskStatuses } from '../core/state.ts';
import type { Counts, EpicView, QuestionView, RunView, TaskView } from '../protocol/api.ts';
import { type Board, nothing } from './board.ts';
import { textList } from './read.ts';
import type { EpicRow, LineRow, QuestionRow, RunRow, TaskRow } from './tables.ts';
import { taskWarnings } from './task-warnings.ts';

export function taskView(
  row: TaskRow,
  board: Pick<Board, 'blockedBy' | 'waitsFor' | 'running'>,
): TaskView {
  const attempt = board.running.get(row.id);
  return {
    id: row.id,
    title: row.title,
    description: row.description ?? '',
    epic_id: row.epic_id,
    parent_id: row.parent_id,
    type: row.type === '' ? 'other' : row.type,
    status: row.status,
    priority: row.priority,
    labels: textList(row.labels),
    blocked_by: board.blockedBy.get(row.id) ?? nothing,
    waits_for: board.waitsFor.get(row.id) ?? nothing,
    blocked_reason: row.blocked_reason,
    review_kind: row.review_kind,
    attempts: row.attempts,
    max_attempts: row.max_attempts,
    next_attempt_at: secondsUp(row.next_attempt_at_ms),
    waiting_until: secondsUp(row.waiting_until_ms),
    phase: row.phase,
    agent: row.agent ?? attempt?.agent ?? null,
    base_sha: row.base_sha,
    branch: row.branch,
    commit_sha: row.commit_sha,
    landed_sha: row.landed_sha,
    worktree_path: row.worktree_path,
    conflict_files: textList(row.conflict_files),
    held_files: textList(row.held_files),
    verdict: row.verdict,
    verdict_reason: row.verdict_reason,
    last_error: row.last_error,
    acceptance_criteria: textList(row.acceptance_criteria),
    gate: row.test_command,
    cost: row.cost_usd,
    created_at: row.created_at,
    updated_at: row.updated_at,
    warnings: taskWarnings(row),
    started_at: attempt === undefined ? null : Math.floor(attempt.started_at_ms / 1000),
    test_mode: row.test_mode,
    test_scope: row.test_scope,
    rescue_refs: textList(row.rescue_refs),
  };
}

/** A time to wait for: never before it has really come. */
function secondsUp(ms: number | null): number | null {
  return ms === null ? null : Math.ceil(ms / 1000);
}

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
  counts.total += 1;
  counts[status] += 1;
}

/** Whole percent of what is not cancelled; 0 when there is nothing. */
export function progressOf(counts: Counts): number {
  const wanted = counts.total - counts.cancelled;
  return wanted === 0 ? 0 : Math.floor((100 * counts.completed) / wanted);
}

export function epicView(row: EpicRow, counts: Counts): EpicView {
  return {
    id: row.id,
    title: row.title,
    description: row.description ?? '',
    status: row.status === 'closed' ? 'closed' : 'open',
    counts,
    progress: progressOf(counts),
    branch: row.branch,
    landed_sha: row.landed_sha,
    created_at: row.created_at,
  };
}

/** `line` is the target's: while it could not follow, a branch of ours holds what has landed. */
export function runView(row: RunRow, line: LineRow | null): RunView {
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
    land: row.land === 'epic' || row.land === 'review' ? row.land : 'task',
  };
}

export function questionView(row: QuestionRow): QuestionView {
  return {
    id: row.id,
    task_id: row.task_id,
    attempt: row.attempt,
    kind: row.kind === 'permission' || row.kind === 'review' ? row.kind : 'question',
    text: row.text,
    choices: textList(row.choices),
    state: row.state === 'answered' || row.state === 'withdrawn' ? row.state : 'open',
    answer: row.answer,
    asked_at: Math.floor(row.asked_at_ms / 1000),
  };
}
