// Views with sensible values, so that a test sets only the relevant ones.

import { taskStatuses } from '../../server/core/plan/state.ts';
import type {
  Counts,
  EpicView,
  QuestionView,
  RunView,
  StatusSnapshot,
  TaskView,
} from '../../server/protocol/api.ts';

export function taskView(task: Partial<TaskView> & { readonly id: string }): TaskView {
  return {
    title: `Title of ${task.id}`,
    description: '',
    epic_id: null,
    parent_id: null,
    type: 'other',
    status: 'ready',
    priority: 0,
    labels: [],
    blocked_by: [],
    waits_for: [],
    blocked_reason: null,
    block: null,
    review_kind: null,
    attempts: 0,
    max_attempts: 3,
    runs_on: null,
    next_attempt_at: null,
    waiting_until: null,
    phase: null,
    agent: null,
    model: null,
    fallback: null,
    best_of: null,
    choose: null,
    candidate_of: null,
    candidate: null,
    base_sha: null,
    branch: null,
    commit_sha: null,
    landed_sha: null,
    landed_on: null,
    worktree_path: null,
    machine: null,
    conflict_files: [],
    held_files: [],
    verdict: 'unknown',
    verdict_reason: null,
    last_error: null,
    acceptance_criteria: [],
    gate: null,
    cost: 0,
    created_at: 1_700_000_000,
    updated_at: 1_700_000_000,
    warnings: [],
    started_at: null,
    test_mode: 'strict',
    test_scope: 'diff',
    rescue_refs: [],
    position: 0,
    plan: null,
    continues: null,
    proposal: null,
    ...task,
  };
}

export function countsOf(tasks: readonly TaskView[]): Counts {
  const counts = { total: tasks.length } as { -readonly [K in keyof Counts]: number };
  for (const status of taskStatuses) {
    counts[status] = tasks.filter((task) => task.status === status).length;
  }
  return counts;
}

function progressOf(counts: Counts): number {
  const scope = counts.total - counts.cancelled;
  return scope === 0 ? 0 : Math.floor((100 * counts.completed) / scope);
}

export function epicView(
  epic: Partial<EpicView> & { readonly id: string },
  tasks: readonly TaskView[] = [],
): EpicView {
  const counts = countsOf(tasks.filter((task) => task.epic_id === epic.id));
  return {
    title: `Title of ${epic.id}`,
    description: '',
    status: 'open',
    counts,
    progress: progressOf(counts),
    branch: null,
    landed_sha: null,
    landing_state: null,
    landing_note: null,
    created_at: 1_700_000_000,
    ...epic,
  };
}

export function runView(run: Partial<RunView> = {}): RunView {
  return {
    id: 'run-1',
    active: true,
    started_at: 1_700_000_000,
    ended_at: null,
    target_branch: 'main',
    result_branch: 'main',
    base_sha: '0123456789abcdef0123456789abcdef01234567',
    workers: 3,
    epic_id: null,
    land: 'task',
    ...run,
  };
}

export function questionView(
  question: Partial<QuestionView> & { readonly id: string },
): QuestionView {
  return {
    task_id: 'task-a',
    attempt: 1,
    request_id: `request of ${question.id}`,
    kind: 'permission',
    text: 'May I?',
    choices: ['allow', 'deny'],
    state: 'open',
    answer: null,
    asked_at: 1_700_000_000,
    ...question,
  };
}

export function snapshotOf(
  tasks: readonly TaskView[],
  rest: Partial<StatusSnapshot> = {},
): StatusSnapshot {
  const counts = countsOf(tasks);
  return {
    seq: 0,
    counts,
    progress: progressOf(counts),
    run: null,
    target: null,
    config: {},
    epics: [],
    tasks,
    stuck: [],
    questions: [],
    holds: [],
    ...rest,
  };
}

/** The cause of a task whose branch fails the gate without any task's work. */
export const redBase = {
  kind: 'red_base',
  line: 'main',
  on: 'main',
  commit: 'bd56f7f1'.padEnd(40, '0'),
  branch: null,
  at_ms: 1,
} as const;
