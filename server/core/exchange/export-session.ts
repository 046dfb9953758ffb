// Writes the whole plan of a project as a session file (`*.drover`), which older tools can also
// read. Fields that they do not know go under the key `drover_ts`. States that they do not know are
// written as `paused`, with the reason in `last_error`.

import { sessionRules } from './session-rules.ts';
import type { TaskStatus } from '../plan/state.ts';
import type { Epic, Task } from '../plan/task.ts';

export const sessionVersion = '1.0';

export type SessionTask = Task & {
  /** Name of the person who owns the task. */
  readonly operator: string | null;
};

export interface SessionWorktree {
  readonly taskId: string;
  readonly path: string;
  readonly branch: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly status: string;
}

export interface SessionInput {
  readonly tasks: readonly SessionTask[];
  readonly epics: readonly Epic[];
  readonly worktrees: readonly SessionWorktree[];
  /** RFC 3339. */
  readonly exportedAt: string;
  /** Absolute path on this machine, only for display. */
  readonly repository: string;
}

/** States that older tools do not know. */
const statesOfOurs: Partial<Readonly<Record<TaskStatus, string>>> = {
  waiting: 'waiting for quota',
  conflict: 'conflict',
  needs_review: 'needs review',
};

function seconds(ms: number): number {
  return Math.floor(ms / 1_000);
}

export function sessionDocument(input: SessionInput): Readonly<Record<string, unknown>> {
  const tasks = parentsFirst(input.tasks);
  return {
    version: sessionVersion,
    exportedAt: input.exportedAt,
    repository: input.repository,
    tasks: tasks.map(taskObject),
    epics: input.epics.map((epic) => ({
      id: epic.id,
      title: epic.title,
      description: epic.description,
      status: epic.status,
      created_at: seconds(epic.createdAt),
      ...(epic.runsOn ? { drover_ts: { runs_on: epic.runsOn } } : {}),
    })),
    dependencies: tasks.flatMap((task) =>
      task.blockedBy.map((blocker) => ({ task_id: task.id, blocked_by: blocker })),
    ),
    worktrees: input.worktrees.map((worktree) => worktreeObject(worktree, input.tasks)),
  };
}

export function exportSession(input: SessionInput): string {
  return `${JSON.stringify(sessionDocument(input), null, 2)}\n`;
}

/**
 * Puts parents before their sub-tasks and sub-tasks in their sequence; otherwise preserves the
 * order.
 */
export function parentsFirst<T extends Pick<Task, 'id' | 'parentId' | 'sequence'>>(
  tasks: readonly T[],
): readonly T[] {
  const ids = new Set(tasks.map(({ id }) => id));
  const below = new Map<string, T[]>();
  const placed: T[] = [];
  for (const task of tasks) {
    const siblings = task.parentId === null ? undefined : below.get(task.parentId);
    if (task.parentId === null || !ids.has(task.parentId)) placed.push(task);
    else if (siblings === undefined) below.set(task.parentId, [task]);
    else siblings.push(task);
  }
  for (let head = 0; head < placed.length; head++) {
    const children = below.get(placed[head]?.id ?? '') ?? [];
    placed.push(...children.toSorted((a, b) => a.sequence - b.sequence));
  }
  return placed;
}

function taskObject(task: SessionTask): Readonly<Record<string, unknown>> {
  const word = statesOfOurs[task.status];
  const lastError = task.lastError ?? '';
  const rules = sessionRules(task);
  return {
    id: task.id,
    title: task.title,
    description: task.description,
    epic_id: task.epicId,
    ...(task.parentId === null ? {} : { parent_id: task.parentId }),
    ...(task.sequence === 0 ? {} : { sequence_number: task.sequence }),
    type: task.type,
    priority: task.priority,
    status: word === undefined ? task.status : 'paused',
    attempts: task.attempts,
    max_attempts: task.maxAttempts,
    last_error: word === undefined ? lastError : [word, lastError].filter(Boolean).join(': '),
    claimed_by: '',
    claimed_at: 0,
    operator: task.operator ?? '',
    verdict: task.verdict,
    verdict_reason: task.verdictReason ?? '',
    ...rules.older,
    created_at: seconds(task.createdAt),
    updated_at: seconds(task.updatedAt),
    drover_ts: extraObject(task, rules.ours),
  };
}

/** The fields that older tools have no column for. */
function extraObject(
  task: SessionTask,
  rules: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return {
    status: task.status,
    last_error: task.lastError,
    labels: task.labels,
    acceptance_criteria: task.acceptanceCriteria,
    ...rules,
    blocked_reason: task.blockedReason,
    ...(task.heldBy === 'beads' ? { held_by: task.heldBy } : {}),
    review_kind: task.reviewKind,
    base_sha: task.baseSha,
    branch: task.branch,
    commit_sha: task.commitSha,
    landed_sha: task.landedSha,
    conflict_files: task.conflictFiles,
    held_files: task.heldFiles,
    rescue_refs: task.rescueRefs,
    next_attempt_at: task.nextAttemptAt,
    waiting_until: task.waitingUntil,
    cost: task.costUsd,
  };
}

function worktreeObject(
  worktree: SessionWorktree,
  tasks: readonly SessionTask[],
): Readonly<Record<string, unknown>> {
  const task = tasks.find(({ id }) => id === worktree.taskId);
  return {
    TaskID: worktree.taskId,
    Path: worktree.path,
    Branch: worktree.branch,
    CreatedAt: seconds(worktree.createdAt),
    LastUsedAt: seconds(worktree.lastUsedAt),
    Status: worktree.status,
    DiskSize: 0,
    TaskStatus: task?.status ?? '',
    TaskTitle: task?.title ?? '',
  };
}
